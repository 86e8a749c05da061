"""The chance that a tile deals in, and the cost, by opponent.

The rates are published Japanese deal-in statistics against one riichi, by class of tile, at about six passed
suji; elsewhere they scale with the number of open suji, as in recorded Phoenix-room games.

With ``reads_melds`` they are adapted to what an open hand shows (`policies.heuristic.open_hands`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from game.fold.reasons import bit
from game.state import row_of
from kit.jit import kernel
from policies.features.melds import count_dora, dora_in_melds
from policies.features.worth import value_han
from policies.heuristic.open_hands import points_of, rate_factor, read_melds, tenpai_factor, tile_class
from policies.heuristic.stakes import loss

# Rate of each class against a player who is tenpai.
_HONOUR_BY_LIVE: Final = (0.0, 0.005, 0.018, 0.043)
"""Honour with 0, 1, 2, 3 copies neither visible nor in the own hand."""
_NO_SUJI: Final = (0.056, 0.080, 0.090, 0.116, 0.116)
"""1/9, 2/8, 3/7, 4/6 and 5 with every suji open."""
_SUJI: Final = (0.020, 0.035, 0.050, 0.034, 0.034)
_HALF_SUJI: Final = 0.075
"""4 to 6 with one of the two suji open."""

_LINES: Final = 18
_REFERENCE_OPEN: Final = 12.0
_ONE_CHANCE: Final = 0.6
"""Weight of an open suji whose sequence needs a tile with a single copy left."""
_DORA_FACTOR: Final = 1.5
_NEAR_DORA_FACTOR: Final = 1.1

# Points of a typical hand: riichi, open and silent; the dealer's are 1.5 times as many.
_RIICHI_POINTS: Final = 5600.0
_SILENT_POINTS: Final = 4000.0
_OPEN_POINTS: Final = (1200.0, 2200.0, 4000.0, 7800.0, 8800.0, 12000.0)
"""By han that are visible or must be assumed."""

_OPEN_TENPAI: Final = (
    (0.0, 0.0, 0.01, 0.02, 0.04, 0.08, 0.13, 0.19, 0.24, 0.29, 0.33, 0.36, 0.38, 0.4, 0.42, 0.44, 0.46, 0.48),
    (0.0, 0.05, 0.1, 0.15, 0.18, 0.26, 0.33, 0.41, 0.47, 0.53, 0.57, 0.58, 0.58, 0.6, 0.6, 0.6, 0.6, 0.6),
    (0.4, 0.45, 0.5, 0.6, 0.65, 0.7, 0.76, 0.82, 0.85, 0.85, 0.86, 0.86, 0.86, 0.86, 0.86, 0.86, 0.86, 0.86),
)  # fmt: skip
"""Chance that a player with 1, 2, 3 open melds is tenpai, by discards so far. Source: Phoenix-room games."""


@kernel
def open_melds(rec: Any, player: int) -> int:
    """Number of a player's open melds."""
    count = 0
    for m in range(rec.meld_count[player]):
        count += rec.meld_kind[player, m] != 4
    return count


@kernel
def tenpai_chance(rec: Any, player: int, reads_melds: bool) -> float:
    """Chance that a player is tenpai, by riichi, open melds and turn, and optionally by the kinds of meld."""
    if rec.riichi[player] > 0:
        return 1.0
    melds = open_melds(rec, player)
    turn = min(17, int(rec.river_size[player]))
    if melds >= 4:
        return 1.0
    if melds > 0:
        factor = tenpai_factor(read_melds(rec, player)[0], melds) if reads_melds else 1.0
        return min(1.0, factor * _OPEN_TENPAI[melds - 1][turn])
    return min(0.12, 0.011 * max(0, turn - 3))


@kernel
def _flush_suit(rec: Any, player: int) -> int:
    """The suit (0-2) a player appears to collect, -1 for none."""
    suit = 3
    for m in range(rec.meld_count[player]):
        kind = int(rec.meld_tiles[player, m, 0]) >> 2
        if kind >= 27:
            continue
        if suit not in (3, kind // 9):
            return -1
        suit = kind // 9
    if suit == 3:
        return -1
    discarded = 0
    for i in range(rec.river_size[player]):
        discarded += int(rec.river[player, i]) >> 2 < 27 and (int(rec.river[player, i]) >> 2) // 9 == suit
    # a flush hand discards few tiles of its own suit
    return suit if open_melds(rec, player) >= 2 and discarded * 6 <= rec.river_size[player] else -1


@kernel(inline="always")
def _open_points(rec: Any, player: int, dora34: Any, flush: int) -> float:
    han = 1 + (1 if flush >= 0 else 0) + dora_in_melds(rec, player, dora34)
    for m in range(1, rec.meld_count[player]):
        han += value_han(rec, player, int(rec.meld_tiles[player, m, 0]) >> 2) > 0
    return _OPEN_POINTS[min(5, han)]


@kernel
def expected_points(rec: Any, player: int, dora34: Any, reads_melds: bool) -> float:
    """Expected points of a player's hand if it is tenpai."""
    if rec.riichi[player] > 0:
        points = _RIICHI_POINTS + 600.0 * (rec.indicator_count - 1)
    elif rec.is_open[player]:
        if reads_melds:
            points = points_of(rec, player, dora34, read_melds(rec, player)[0])
        else:
            points = _open_points(rec, player, dora34, _flush_suit(rec, player))
    else:
        points = _SILENT_POINTS
    return float(points * (1.5 if rec.dealer == player else 1.0) + 300.0 * rec.honba)


@kernel
def _line_weight(first: int, second: int, visible: Any) -> float:
    """Weight of a suji whose sequence needs these two kinds."""
    left = min(4 - visible[first], 4 - visible[second])
    if left <= 0:
        return 0.0
    return _ONE_CHANCE if left == 1 else 1.0


@kernel
def rates_against(rec: Any, other: int, visible: Any, dora34: Any, reads_melds: bool, out: Any) -> None:
    """Chance of each kind to be the winning tile of another player who is tenpai.

    Args:
        rec: the round.
        other: the possible winner.
        visible: ``[34]`` int8, copies the discarder can see.
        dora34: ``[34]`` int8, how often each kind counts as dora.
        reads_melds: adapt the rates to what an open hand shows.
        out: ``[34]`` float64, filled.
    """
    safe = rec.river34[other] | rec.safe34[other] | rec.turn_safe34[other]
    passed = 0
    for suit in range(3):
        for low in range(6):
            kind = 9 * suit + low
            passed += (safe & bit(kind)) != 0 or (safe & bit(kind + 3)) != 0
    scale = _REFERENCE_OPEN / max(4.0, float(_LINES - passed))
    reading, suit = read_melds(rec, other) if reads_melds else (0, -1)
    flush = -1 if reads_melds or rec.riichi[other] > 0 else _flush_suit(rec, other)
    for kind in range(34):
        if (safe & bit(kind)) != 0:
            out[kind] = 0.0
            continue
        if kind >= 27:
            rate = _HONOUR_BY_LIVE[max(0, min(3, 4 - visible[kind]))] * (0.6 + 0.4 * scale)
            rate *= 1.8 if flush >= 0 else 1.0
        else:
            rate = _suited_rate(kind, safe, visible, scale)
            if flush >= 0:
                rate *= 1.7 if kind // 9 == flush else 0.3
        if dora34[kind] > 0:
            rate *= _DORA_FACTOR
        elif kind < 27 and near_dora(kind, dora34):
            rate *= _NEAR_DORA_FACTOR
        if reading > 0:
            is_suji = kind < 27 and open_suji(kind, safe, visible) <= 0.0
            rate *= rate_factor(reading, tile_class(rec, other, kind, suit), is_suji)
        out[kind] = rate


@kernel(inline="always")
def near_dora(kind: int, dora34: Any) -> bool:
    """Whether a suited kind is beside a dora."""
    place = kind % 9
    return (place > 0 and dora34[kind - 1] > 0) or (place < 8 and dora34[kind + 1] > 0)


@kernel
def open_suji(kind: int, safe: Any, visible: Any) -> float:
    """Number of suji still open for a suited kind, 0 to 2; one with a single copy left counts in part.

    Args:
        kind: suited.
        safe: bit per kind that passed.
        visible: ``[34]`` int8, copies that can be seen.
    """
    place = kind % 9
    weight = 0.0
    if place >= 3 and (safe & bit(kind - 3)) == 0:
        weight += _line_weight(kind - 2, kind - 1, visible)
    if place <= 5 and (safe & bit(kind + 3)) == 0:
        weight += _line_weight(kind + 1, kind + 2, visible)
    return weight


@kernel(inline="always")
def _suited_rate(kind: int, safe: Any, visible: Any, scale: float) -> float:
    lines = open_suji(kind, safe, visible)
    rank = min(kind % 9, 8 - kind % 9)
    closed = _SUJI[rank] * (0.7 + 0.3 * scale)
    if rank < 3:
        return closed + lines * max(0.0, _NO_SUJI[rank] * scale - closed)
    half = _HALF_SUJI * scale
    if lines <= 1.0:
        return closed + lines * max(0.0, half - closed)
    return half + (lines - 1.0) * (_NO_SUJI[rank] * scale - half)


@kernel
def discard_risk(
    rec: Any,
    player: int,
    visible: Any,
    dora34: Any,
    scores: Any,
    rounds_left: int,
    rate: Any,
    cost: Any,
) -> float:
    """Risk of discarding each kind now, over all opponents.

    Args:
        rec: the round.
        player: the discarder.
        visible: ``[34]`` int8, copies the discarder can see.
        dora34: ``[34]`` int8, how often each kind counts as dora.
        scores: ``[4]`` float64.
        rounds_left: rounds after this one.
        rate: ``[34]`` float64, receives the chance to deal in.
        cost: ``[34]`` float64, receives the expected loss, in the units of `policies.heuristic.stakes`.

    Returns:
        The threat: the chance that the most dangerous opponent is tenpai.
    """
    rate[:] = 0.0
    cost[:] = 0.0
    one = np.empty(34, dtype=np.float64)
    threat = 0.0
    for step in range(1, 4):
        other = (player + step) % 4
        chance = tenpai_chance(rec, other, False)
        if chance <= 0.02:
            continue
        threat = max(threat, chance)
        points = expected_points(rec, other, dora34, False) + 1000.0 * rec.riichi_sticks
        price = max(200.0, loss(scores, player, other, points, rounds_left))
        rates_against(rec, other, visible, dora34, False, one)
        for kind in range(34):
            rate[kind] += chance * one[kind]
            cost[kind] += chance * one[kind] * price
    return threat


class Danger(msgspec.Struct, frozen=True):
    """Danger by opponent, by seat from shimocha on.

    Attributes:
        tenpai: ``[3]`` float64, chance that the opponent is tenpai.
        points: ``[3]`` float64, cost of the opponent's hand.
        rates: ``[3, 34]`` float64, chance of each kind to win if the opponent is tenpai.
    """

    tenpai: npt.NDArray[np.float64]
    points: npt.NDArray[np.float64]
    rates: npt.NDArray[np.float64]

    @property
    def deal_in(self) -> npt.NDArray[np.float64]:
        """``[3, 34]``: chance of each kind to deal in."""
        chance: npt.NDArray[np.float64] = self.tenpai[:, None] * self.rates
        return chance


def danger_of(record: np.void, player: int, *, reads_melds: bool) -> Danger:
    """The danger from each opponent of a player whose hand is known.

    Args:
        record: the round.
        player: the discarder, absolute.
        reads_melds: adapt it to what open hands show (`policies.heuristic.open_hands`).
    """
    tenpai, points, rates = np.empty(3), np.empty(3), np.empty((3, 34))
    _against_each(row_of(record), player, reads_melds, tenpai, points, rates)
    return Danger(tenpai, points, rates)


@kernel
def _against_each(rows: Any, player: int, reads_melds: bool, tenpai: Any, points: Any, rates: Any) -> None:
    rec = rows[0]
    visible = np.empty(34, dtype=np.int8)
    dora34 = np.empty(34, dtype=np.int8)
    in_sight(rec, player, visible, dora34)
    for step in range(1, 4):
        other = (player + step) % 4
        tenpai[step - 1] = tenpai_chance(rec, other, reads_melds)
        points[step - 1] = expected_points(rec, other, dora34, reads_melds)
        rates_against(rec, other, visible, dora34, reads_melds, rates[step - 1])


@kernel
def in_sight(rec: Any, player: int, visible: Any, dora34: Any) -> None:
    """Count the copies of each kind that a player can see, and how often it is dora.

    Args:
        rec: the round.
        player: whose hand is known.
        visible: ``[34]`` int8, filled.
        dora34: ``[34]`` int8, filled.
    """
    for kind in range(34):
        visible[kind] = rec.seen34[kind] + rec.hand34[player, kind]
    count_dora(rec, dora34)
