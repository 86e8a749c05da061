"""Which tile to discard first: strong players' preferences beyond the value of the next hands.

The value of a hand looks a draw or two ahead; isolated tiles and edge shapes differ in what they may still
become, and in when they are safe to discard. The weights are a conditional logit over 31 thousand discards of
Phoenix-room games without a threat (its first choice matches 63 % of 7 thousand others), rounded.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from game.shanten import discard_table, shanten_thirteen_orphans
from kit.jit import kernel
from policies.heuristic.danger import near_dora
from policies.heuristic.side import MELDS, RED_M, yakuhai_han

WORTH_SCALE: Final = 5.0
"""Weight on the preference scale of a hand worth e times as much, all else being equal."""

_WORTH: Final = 1.85
_BACK: Final = (-3.5, -3.5, -2.3, -1.5)
"""For each step away from the least shanten, by that shanten."""
_ACCEPTED: Final = 4.1
"""For accepted copies: factor on the logarithm of their share of the maximum."""
_LONE_GUEST_WIND: Final = 0.8
_LONE_VALUE_HONOUR: Final = (2.0, 1.4, 0.8, 0.0)
"""By number of copies that may still come."""
_LONE_NUMBER: Final = (2.1, 2.0, 1.2, 0.9, 0.9)
"""1/9, 2/8, 3/7, 4/6 and 5."""
_EARLY_GUEST_WIND: Final = 3.5
_EARLY_VALUE_HONOUR: Final = 2.1
_EARLY_TERMINAL: Final = 2.3
"""Added to that on the first discard, fading out over six."""
_GAPPED_TERMINAL: Final = 1.2
_GAPPED_TWO: Final = 0.85
_EDGE: Final = 1.1
"""A 1 next to nothing but a 3, a 2 next to nothing but a 4, a 1 next to a 2."""
_PAIR_GUEST_WIND: Final = 0.8
_PAIR_VALUE_HONOUR: Final = -0.4
_PAIR_TERMINAL: Final = 0.8
_TRIPLET: Final = -0.7
_DORA: Final = -1.3
_RED: Final = -0.9
_NEAR_DORA: Final = -0.5
_EARLY_TURNS: Final = 6
_LEAST_WORTH: Final = 20.0


@kernel
def tidiness(hand34: Any, side: Any, unseen34: Any, dora34: Any, turn: int, allowed: Any, out: Any) -> None:
    """Preference for discarding each kind, apart from the value of the hand, as a logarithm.

    Args:
        hand34: ``[34]`` int8, 3n+2 concealed tiles.
        side: the hand's fixed part, see `policies.heuristic.side`.
        unseen34: ``[34]`` int8, copies the player cannot see.
        dora34: ``[34]`` int8, how often each kind counts as dora.
        turn: own discards so far.
        allowed: ``[34]`` bool, kinds that may be discarded.
        out: ``[34]`` float64, filled where allowed.
    """
    distances = np.empty(34, dtype=np.int8)
    masks = np.empty(34, dtype=np.uint64)
    copies = np.empty(34, dtype=np.int16)
    discard_table(hand34, side[MELDS], unseen34, distances, masks, copies)
    least = 99
    most = 0
    for kind in range(34):
        if allowed[kind] and hand34[kind] > 0 and distances[kind] <= least:
            if distances[kind] < least:
                most = 0
            least = distances[kind]
            most = max(most, copies[kind])
    early = max(0, _EARLY_TURNS - turn) / _EARLY_TURNS
    orphans = side[MELDS] == 0 and shanten_thirteen_orphans(hand34) <= min(least, 3)
    back = _BACK[max(0, min(3, least))]
    for kind in range(34):
        if not allowed[kind] or hand34[kind] == 0:
            continue
        score = back * (distances[kind] - least)
        if distances[kind] == least:
            score += _ACCEPTED * math.log((copies[kind] + 1.0) / (most + 1.0))
        if orphans:
            out[kind] = score  # the isolated tiles are the hand
            continue
        if kind >= 27:
            score += _honour(hand34[kind], yakuhai_han(kind, side) > 0, unseen34[kind], early)
        else:
            score += _number(hand34, kind, early)
            if kind % 9 == 4 and hand34[kind] == 1 and side[RED_M + kind // 9]:
                score += _RED
        score += _TRIPLET if hand34[kind] >= 3 else 0.0
        if dora34[kind] > 0:
            score += _DORA * dora34[kind]
        elif kind < 27 and near_dora(kind, dora34):
            score += _NEAR_DORA
        out[kind] = score


@kernel(inline="always")
def _honour(held: int, counts: bool, live: int, early: float) -> float:
    if held == 1 and counts:
        return _LONE_VALUE_HONOUR[max(0, min(3, live))] + _EARLY_VALUE_HONOUR * early
    if held == 1:
        return _LONE_GUEST_WIND + _EARLY_GUEST_WIND * early
    if held == 2:
        return _PAIR_VALUE_HONOUR if counts else _PAIR_GUEST_WIND
    return 0.0


@kernel(inline="always")
def _number(hand34: Any, kind: int, early: float) -> float:
    place = kind % 9
    from_edge = min(place, 8 - place)
    inward = 1 if place <= 4 else -1
    beside = hand34[kind + inward] + (hand34[kind - inward] if from_edge > 0 else 0)
    across = hand34[kind + 2 * inward] + (hand34[kind - 2 * inward] if from_edge > 1 else 0)
    if hand34[kind] == 2:
        return _PAIR_TERMINAL if from_edge == 0 else 0.0
    if hand34[kind] != 1:
        return 0.0
    if beside == 0 and across == 0:
        return _LONE_NUMBER[from_edge] + (_EARLY_TERMINAL * early if from_edge == 0 else 0.0)
    if beside == 0:
        return _GAPPED_TERMINAL if from_edge == 0 else (_GAPPED_TWO if from_edge == 1 else 0.0)
    return _EDGE if from_edge == 0 else 0.0


@kernel
def preference(tidy: float, worth: float) -> float:
    """Preference for a discard, from that for its kind and the value of the hand, as a logarithm."""
    return tidy + _WORTH * math.log(max(_LEAST_WORTH, worth))
