"""The view of the table for one decision: computed once, used by every rule of the heuristic."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from game.fold.reasons import bit
from game.layout import AT_HAND
from game.rules import riichi_allowed
from game.scoring.settlement import LAST_ROUND, GameLength
from kit.jit import kernel
from policies.features.melds import dora_in_melds
from policies.heuristic.attack import (
    DRAW_RISK,
    DRAWS,
    FOLDING,
    LATER_RISK,
    MOMENT_SIZE,
    PRESSURE,
    RIICHI_OPEN,
    STICK_PRICE,
    TENPAI_PRICE,
    TURN,
    Setting,
    future_risk,
    hand_worth,
)
from policies.heuristic.danger import discard_risk, expected_points, in_sight, tenpai_chance
from policies.heuristic.shape import WORTH_SCALE, preference, tidiness
from policies.heuristic.side import (
    CLOSED,
    MELD_AT,
    MELD_DORA,
    MELDS,
    RED_M,
    ROUND_WIND,
    SEAT_WIND,
    SIDE_SIZE,
)
from policies.heuristic.stakes import HAN_MAX, loss, stick_price, tenpai_price, win_gains

_ANKAN: Final = 4


class Outlook(msgspec.Struct, frozen=True):
    """The table as seen by the player who decides.

    Attributes:
        hand34: ``[34]`` int8, the player's concealed tiles.
        setting: what else the value of the hand depends on.
        rate: ``[34]`` float64, chance of each kind to deal in.
        cost: ``[34]`` float64, expected loss of each kind.
    """

    hand34: npt.NDArray[np.int8]
    setting: Setting
    rate: npt.NDArray[np.float64]
    cost: npt.NDArray[np.float64]


def outlook_of(record: np.void, player: int, length: GameLength) -> Outlook:
    """Compute the view for one decision of a player whose hand is known.

    Args:
        record: the round.
        player: absolute.
        length: length of the game.
    """
    setting = Setting(
        side=np.zeros(SIDE_SIZE, dtype=np.int64),
        unseen34=np.empty(34, dtype=np.int8),
        dora34=np.empty(34, dtype=np.int8),
        gains=np.empty(HAN_MAX, dtype=np.float64),
        moment=np.empty(MOMENT_SIZE, dtype=np.float64),
        discarded34=record["river34"][player],
    )
    view = Outlook(record["hand34"][player].copy(), setting, np.empty(34), np.empty(34))
    rounds_left = max(0, LAST_ROUND[length] - int(record["round_index"]))
    _survey(record, player, rounds_left, setting, view.rate, view.cost)
    return view


@kernel
def _survey(rec: Any, player: int, rounds_left: int, setting: Any, rate: Any, cost: Any) -> None:
    """Fill the arrays of an `Outlook` from a record."""
    side, unseen34, dora34, gains, moment, _ = setting
    visible = np.empty(34, dtype=np.int8)
    in_sight(rec, player, visible, dora34)
    for kind in range(34):
        unseen34[kind] = max(0, 4 - visible[kind])
    _fill_side(rec, player, dora34, side)
    scores = np.empty(4, dtype=np.float64)
    for p in range(4):
        scores[p] = rec.scores[p]
    bonus = 300.0 * rec.honba + 1000.0 * rec.riichi_sticks
    win_gains(scores, player, rec.dealer == player, bonus, rounds_left, gains)
    threat = discard_risk(rec, player, visible, dora34, scores, rounds_left, rate, cost)
    riichi_out = False
    for p in range(4):
        riichi_out = riichi_out or (p != player and rec.riichi[p] > 0)
    total = 0.0
    risk = 0.0
    for kind in range(34):
        total += unseen34[kind]
        risk += unseen34[kind] * cost[kind]
    moment[DRAWS] = float(max(0, int(rec.wall_left))) / 4.0
    moment[PRESSURE] = 1.0 if riichi_out else 0.8 * threat
    moment[DRAW_RISK] = risk / max(1.0, total)
    moment[RIICHI_OPEN] = 2.0 if rec.riichi[player] == 1 else (1.0 if riichi_allowed(rec, player) else 0.0)
    moment[STICK_PRICE] = stick_price(scores, player, rounds_left)
    later = 0.0
    for step in range(1, 4):
        later += max(0.0, loss(scores, player, (player + step) % 4, _LATER_POINTS, rounds_left)) / 3.0
    moment[FOLDING] = 1.0 if rounds_left > 0 else _FOLDING_LAST
    moment[LATER_RISK] = _LATER_RATE * later
    moment[TENPAI_PRICE] = tenpai_price(scores, player, rounds_left)
    spared = _spared(rec, player, dora34)
    for han in range(1, HAN_MAX):
        gains[han] += spared
    moment[TURN] = rec.river_size[player]


@kernel(inline="always")
def _spared(rec: Any, player: int, dora34: Any) -> float:
    """The loss that a win avoids: our share of a tsumo by tenpai opponents, and the noten penalty."""
    spared = 0.0
    for other in range(4):
        if other != player:
            chance = tenpai_chance(rec, other, False)
            points = expected_points(rec, other, dora34, False)
            spared += chance * (_TSUMO_SHARE * points + _NOTEN_SHARE)
    return spared


_FOLDING_LAST: Final = 0.3
"""In the last round the trailing players have little left to lose."""
_LATER_RATE: Final = 0.012
_LATER_POINTS: Final = 5600.0
"""Chance per turn to deal into a hand that is not a threat yet, and its points."""
_TSUMO_SHARE: Final = 0.1
"""A third of the points, in about three rounds of ten."""
_NOTEN_SHARE: Final = 250.0


@kernel
def _fill_side(rec: Any, player: int, dora34: Any, side: Any) -> None:
    """Fill the fixed part of a player's hand, see `policies.heuristic.side`."""
    side[SEAT_WIND] = 27 + (player - rec.dealer) % 4
    side[ROUND_WIND] = 27 + rec.round_index // 4
    side[MELDS] = rec.meld_count[player]
    side[CLOSED] = 1
    side[MELD_DORA] = dora_in_melds(rec, player, dora34)
    for m in range(rec.meld_count[player]):
        side[MELD_AT + 2 * m] = rec.meld_kind[player, m]
        side[MELD_AT + 2 * m + 1] = int(rec.meld_tiles[player, m, 0]) >> 2
        if rec.meld_kind[player, m] != _ANKAN:
            side[CLOSED] = 0
    for suit in range(3):
        side[RED_M + suit] = int(rec.where[36 * suit + 16] == AT_HAND + player)


@kernel
def discard_worths(hand34: Any, setting: Any, rate: Any, cost: Any, allowed: Any, out: Any) -> None:
    """Value of each discard from a 3n+2 hand: the value of playing on, minus the risk now and later.

    Args:
        hand34: ``[34]`` int8, 3n+2 concealed tiles.
        setting: a `Setting`.
        rate: ``[34]`` float64, chance to deal in.
        cost: ``[34]`` float64, expected loss.
        allowed: ``[34]`` bool, kinds that may be discarded.
        out: ``[34]`` float64, filled; far below all others where not allowed.
    """
    side, unseen34, dora34, gains, moment, discarded34 = setting
    trial = hand34.copy()
    tidy = np.zeros(34, dtype=np.float64)
    worth = np.zeros(34, dtype=np.float64)
    liked = np.full(34, _NEVER)
    tidiness(hand34, side, unseen34, dora34, int(moment[TURN]), allowed, tidy)
    for kind in range(34):
        if allowed[kind] and hand34[kind] > 0:
            trial[kind] -= 1
            after = Setting(side, unseen34, dora34, gains, moment, discarded34 | bit(kind))
            worth[kind] = hand_worth(trial, after, 0)
            liked[kind] = preference(tidy[kind], worth[kind])
            trial[kind] += 1
    order = np.argsort(-liked)
    least = 1e18
    for i in range(34):
        kind = order[i]
        if liked[kind] <= _NEVER:
            break
        if i >= _DEEP:
            liked[kind] = min(liked[kind], least)
            continue
        trial[kind] -= 1
        after = Setting(side, unseen34, dora34, gains, moment, discarded34 | bit(kind))
        worth[kind] = hand_worth(trial, after, 1)
        liked[kind] = preference(tidy[kind], worth[kind])
        trial[kind] += 1
        least = min(least, liked[kind])
    best = np.argmax(liked)
    for kind in range(34):
        out[kind] = _NEVER
        if liked[kind] <= _NEVER:
            continue
        going_on = worth[best] * math.exp((liked[kind] - liked[best]) / WORTH_SCALE)
        trial[kind] -= 1
        onward = going_on - future_risk(trial, side, moment)
        trial[kind] += 1
        onward = max(onward, _FOLDED_SHARE * going_on)
        out[kind] = (1.0 - rate[kind]) * onward - cost[kind]


_NEVER: Final = -1e18
_DEEP: Final = 6
"""Number of discards evaluated in depth."""
_FOLDED_SHARE: Final = 0.02
"""Weight of an abandoned hand: of two safe tiles, the less useful one is discarded."""
