"""The current value of points: early rounds are about points, the last ones about places.

The chance to finish ahead of an opponent is modelled as a logistic curve of the score difference, flat while
many rounds remain and steep at the end. A place is worth its rank points, so avoiding fourth matters more
than finishing first.
"""

from __future__ import annotations

import math
from typing import Any, Final

from game.ranking import HANCHAN_REWARDS
from kit.jit import kernel

HAN_MAX: Final = 14
"""Length of a table of gains by han."""

_POINTS_PER_VALUE: Final = 145.0
"""Points per rank point: at the start of a hanchan one point then counts as about one."""
_PLACE_SHARE: Final = 0.85
_SPREAD_NOW: Final = 600.0
_SPREAD_ROUND: Final = 3900.0
"""Width of the curve: a constant for what a win leaves open, and a part per round (by its square root)."""

_DRAW_SWING: Final = 1000.0
"""Points won or lost on average at the end of the wall, when one or two players are tenpai."""

_RON_POINTS: Final = (
    0.0, 1150.0, 2200.0, 4200.0, 7850.0, 8000.0, 12000.0, 12000.0,
    16000.0, 16000.0, 16000.0, 24000.0, 24000.0, 32000.0,
)  # fmt: skip
"""Average ron of 1 to 13 han at 30 to 40 fu; index 0 is a win without a yaku."""


@kernel
def place_chances(scores: Any, player: int, rounds_left: float) -> tuple[float, float, float, float]:
    """Chances of first to fourth place, treating the opponents as independent.

    Args:
        scores: ``[4]`` float64.
        player: absolute.
        rounds_left: rounds still to be played.
    """
    spread = _SPREAD_NOW + _SPREAD_ROUND * math.sqrt(rounds_left)
    chance = (1.0, 0.0, 0.0, 0.0)  # of 0 to 3 opponents ahead
    for other in range(4):
        if other == player:
            continue
        # ties go to the first in seat order
        lead = scores[player] - scores[other] + (50.0 if player < other else -50.0)
        behind = 1.0 / (1.0 + math.exp(min(60.0, max(-60.0, lead / spread))))
        a, b, c, d = chance
        chance = (
            a * (1 - behind),
            b * (1 - behind) + a * behind,
            c * (1 - behind) + b * behind,
            d * (1 - behind) + c * behind,
        )
    return chance


@kernel
def standing(scores: Any, player: int, rounds_left: float) -> float:
    """Value of a player's standing, in points at the start of a game.

    Args:
        scores: ``[4]`` float64.
        player: absolute.
        rounds_left: rounds still to be played.
    """
    chance = place_chances(scores, player, rounds_left)
    place = 0.0
    for i in range(4):
        place += chance[i] * HANCHAN_REWARDS[i]
    return float(_PLACE_SHARE * _POINTS_PER_VALUE * place + (1.0 - _PLACE_SHARE) * scores[player])


@kernel
def win_gains(scores: Any, player: int, is_dealer: bool, bonus: float, rounds_left: int, out: Any) -> None:
    """The gain of a win with 0 to 13 han for a player.

    Args:
        scores: ``[4]`` float64.
        player: the winner.
        is_dealer: whether that player is the dealer.
        bonus: honba and sticks on the table, in points.
        rounds_left: rounds after this one.
        out: ``[HAN_MAX]`` float64, filled; index 0 stays 0.
    """
    now = standing(scores, player, rounds_left + 1.0)
    after = scores.copy()
    out[0] = 0.0
    for han in range(1, HAN_MAX):
        points = _RON_POINTS[han] * (1.5 if is_dealer else 1.0) + bonus
        for p in range(4):
            after[p] = scores[p] + (points if p == player else -points / 3.0)
        out[han] = standing(after, player, float(rounds_left)) - now


@kernel
def loss(scores: Any, player: int, winner: int, points: float, rounds_left: int) -> float:
    """A player's loss from dealing ``points`` into ``winner``."""
    after = scores.copy()
    after[player] -= points
    after[winner] += points
    return standing(scores, player, rounds_left + 1.0) - standing(after, player, float(rounds_left))


@kernel
def stick_price(scores: Any, player: int, rounds_left: int) -> float:
    """Value of a riichi stick during the round."""
    after = scores.copy()
    after[player] -= 1000.0
    return standing(scores, player, rounds_left + 1.0) - standing(after, player, rounds_left + 1.0)


@kernel
def tenpai_price(scores: Any, player: int, rounds_left: int) -> float:
    """Value of being tenpai rather than noten when the wall runs out."""
    after = scores.copy()
    worth = 0.0
    for sign in (1.0, -1.0):
        for p in range(4):
            after[p] = scores[p] + sign * (_DRAW_SWING if p == player else -_DRAW_SWING / 3.0)
        worth += sign * standing(after, player, float(rounds_left))
    return worth


@kernel
def gain_of(gains: Any, points: int, is_dealer: bool) -> float:
    """The gain of a ron of so many points, between those of the hands that pay less and more on average."""
    ron = points / 1.5 if is_dealer else float(points)
    han = 0
    while han < HAN_MAX - 1 and _RON_POINTS[han + 1] < ron:
        han += 1
    if han == HAN_MAX - 1:
        return float(gains[han])
    part = (ron - _RON_POINTS[han]) / (_RON_POINTS[han + 1] - _RON_POINTS[han])
    return float(gains[han] * (1.0 - part) + gains[han + 1] * part)


@kernel
def gain_at(gains: Any, han: float) -> float:
    """A gain at a fractional number of han."""
    if han <= 0.0:
        return 0.0
    if han >= HAN_MAX - 1:
        return float(gains[HAN_MAX - 1])
    low = int(han)
    part = han - low
    return float(gains[low] * (1.0 - part) + gains[low + 1] * part)
