"""Planes of what a player cannot see: other hands, wall, ura indicators (training only)."""

from __future__ import annotations

from typing import Any, Final

from game.layout import AT_HAND, PHASE_TURN
from game.scoring.dora import dora_of
from game.shanten import shanten
from game.table.walls import LIVE_TILES, indicator_place, next_place
from kit.jit import kernel
from policies.features.draw import add_one, fill, mark_counts, mark_mask
from policies.features.table import ONE, ORACLE, ORACLE_DRAWS, SETS

_SET: Final = SETS[ORACLE]
_HANDS: Final = _SET.at("hand1")
_HAND_PLANES: Final = _SET.at("hand2") - _HANDS
_WALL: Final = _SET.at("wall")
_LEFT: Final = _SET.at("left")
_URA: Final = _SET.at("ura")
_REDS: Final = (16, 52, 88)
_next_place: Final = kernel(next_place)
_indicator_place: Final = kernel(indicator_place)


@kernel
def mark_oracle(rec: Any, me: int, wall: Any, out: Any) -> None:
    """All oracle planes; unknown hands, and wall tiles of -1, stay empty."""
    for seat in range(1, 4):
        player = (me + seat) & 3
        if rec.hand_known[player]:
            _mark_hand(rec, player, out, _HANDS + _HAND_PLANES * (seat - 1))
    # a replacement tile that is still to be drawn has not moved the end of the live wall
    taken = rec.kan_count - (rec.rinshan if rec.phase != PHASE_TURN else 0)
    start = _next_place(int(rec.wall_left), taken)
    for i in range(min(int(rec.wall_left), LIVE_TILES)):
        tile = wall[start + i]
        if tile < 0:
            continue
        add_one(out, _LEFT, tile >> 2, 4)
        if i < ORACLE_DRAWS:
            out[_WALL + i, tile >> 2] = ONE
    for i in range(rec.indicator_count):
        tile = wall[_indicator_place(i) - 1]
        if tile >= 0:
            add_one(out, _URA, dora_of(tile >> 2), 4)


@kernel
def _mark_hand(rec: Any, player: int, out: Any, at: int) -> None:
    mark_counts(out, at, rec.hand34[player], 4)
    for suit in range(3):
        if rec.where[_REDS[suit]] == AT_HAND + player:
            fill(out, at + 4 + suit, ONE)
    mark_mask(out, at + 7, rec.waits[player])
    distance = shanten(rec.hand34[player], int(rec.meld_count[player]))
    fill(out, at + 8 + min(max(distance, 0), 3), ONE)
