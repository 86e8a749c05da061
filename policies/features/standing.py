"""Planes of the game around the hand: scores, round, wall, riichi (groups I to M, and Q)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.layout import LIVE_TILES, PHASE_TURN
from game.rules import orphan_kinds
from game.tiles import EAST
from kit.jit import kernel
from policies.features.draw import fill, fill_real
from policies.features.melds import third_of
from policies.features.table import ONE

_SCORE_STEPS: Final = np.array([*range(2000, 40_001, 2000), 45_000, 50_000, 60_000], dtype=np.int64)
_LEAD_STEPS: Final = np.array([1000, 2000, 4000, 8000, 12_000, 16_000, 24_000], dtype=np.int64)
_SCORE_PLANES: Final = len(_SCORE_STEPS) + 1
_LEAD_PLANES: Final = len(_LEAD_STEPS) + 1
_MOST_HONBA: Final = 5


@kernel
def _step(value: int, steps: Any) -> int:
    """Number of steps that a value has reached."""
    reached = 0
    for each in steps:
        reached += value >= each
    return reached


@kernel
def place_of(scores: Any, player: int) -> int:
    """Place 0-3; ties go to the first in seat order."""
    place = 0
    for other in range(4):
        if scores[other] > scores[player] or (scores[other] == scores[player] and other < player):
            place += 1
    return place


@kernel
def mark_scores(rec: Any, me: int, out: Any, scores: int, leads: int) -> None:
    """I1 and I2 of the full set."""
    for seat in range(4):
        points = rec.scores[(me + seat) & 3]
        fill(out, scores + _SCORE_PLANES * seat + _step(points, _SCORE_STEPS), ONE)
        if seat:
            lead = rec.scores[me] - points
            behind = _LEAD_PLANES if lead < 0 else 0
            fill(out, leads + 2 * _LEAD_PLANES * (seat - 1) + behind + _step(abs(lead), _LEAD_STEPS), ONE)


@kernel
def mark_scores_real(rec: Any, me: int, out: Any, scores: int, leads: int) -> None:
    """I1 and I2 of the lite set."""
    for seat in range(4):
        points = rec.scores[(me + seat) & 3]
        fill_real(out, scores + seat, points / 50_000)
        fill_real(out, scores + 4 + seat, points / 25_000)
        if seat:
            fill_real(out, leads + seat - 1, 0.5 + (rec.scores[me] - points) / 50_000)


@kernel
def mark_round(rec: Any, me: int, out: Any, rank: int, at: int) -> None:
    """I3 and J."""
    fill(out, rank + place_of(rec.scores, me), ONE)
    wind = min(rec.round_index // 4, 2)
    own = (me - rec.dealer) & 3
    fill(out, at + wind, ONE)
    fill(out, at + 3 + rec.round_index % 4, ONE)
    fill(out, at + 7 + own, ONE)
    fill(out, at + 11 + (rec.dealer - me) % 4, ONE)
    fill(out, at + 15 + min(int(rec.honba), _MOST_HONBA), ONE)
    fill(out, at + 21 + min(int(rec.riichi_sticks), _MOST_HONBA), ONE)
    out[at + 27, EAST + wind] = ONE
    out[at + 28, EAST + own] = ONE


@kernel
def mark_wall(rec: Any, out: Any, at: int) -> None:
    """K of the full set."""
    fill(out, at + min(int(rec.wall_left), LIVE_TILES) // 4, ONE)


@kernel
def mark_wall_real(rec: Any, out: Any, at: int) -> None:
    """K of the lite set."""
    left = int(rec.wall_left)
    fill_real(out, at, left / LIVE_TILES)
    fill(out, at + 1 + min(left // 12, 5), ONE)


@kernel
def mark_riichi(rec: Any, me: int, out: Any, at: int, closed: int) -> None:
    """L and M of the full set."""
    for seat in range(4):
        player = (me + seat) & 3
        if rec.riichi[player]:
            fill(out, at + 5 * seat, ONE)
            fill(out, at + 5 * seat + 1 + third_of(_riichi_order(rec, player)), ONE)
        if rec.ippatsu[player]:
            fill(out, at + 5 * seat + 4, ONE)
        if not rec.is_open[player]:
            fill(out, closed + seat, ONE)


@kernel
def mark_riichi_real(rec: Any, me: int, out: Any, at: int) -> None:
    """L of the lite set."""
    for seat in range(4):
        player = (me + seat) & 3
        if rec.riichi[player]:
            fill(out, at + 3 * seat, ONE)
            fill_real(out, at + 3 * seat + 2, (1 + _riichi_order(rec, player) // 4) / 18)
        if rec.ippatsu[player]:
            fill(out, at + 3 * seat + 1, ONE)


@kernel
def _riichi_order(rec: Any, player: int) -> int:
    """Discards of all players before the riichi tile, which may not have been discarded yet."""
    return int(rec.riichi_order[player] if rec.riichi_order[player] >= 0 else rec.discard_count)


@kernel
def mark_moment(rec: Any, sight: Any, out: Any, at: int, last_round: int) -> None:
    """Q."""
    me = int(sight.me)
    late = rec.round_index >= last_round
    first_turn = rec.unbroken and rec.river_size[me] == 0
    if late:
        fill(out, at, ONE)
    if rec.round_index > last_round:
        fill(out, at + 1, ONE)
    if late and rec.dealer == me and place_of(rec.scores, me) == 0:
        fill(out, at + 2, ONE)
    if first_turn:
        fill(out, at + 3, ONE)
        if rec.phase == PHASE_TURN and rec.turn == me and orphan_kinds(sight.hand34) >= 9:
            fill(out, at + 4, ONE)
    if sight.draws == 0:
        fill(out, at + 5, ONE)
