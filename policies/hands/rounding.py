"""From real numbers of copies to hands: whole copies, within the sizes of the hands and the copies left.

`round_greedily` is the paper's procedure; `round_together` finds the hands with the least squared distance.
Both take scores in copies, ``[3, 34]``, and round the hands of three opponents at once.

Source: Sasaki, "Hand Generation in Mahjong using Diffusion Process Model", Dwango Media Village 2023, for the
first.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.tiles import KINDS
from kit.jit import kernel, warms_up

_HANDS: Final = 3
_FIVES: Final = (4, 13, 22)
_FAR: Final = 1e9


@kernel
def round_greedily(scores: Any, unseen: Any, sizes: Any, draws: Any, out: Any) -> None:
    """Round the numbers in the order of their distance to a whole number, then fill at random.

    Args:
        scores: ``[3, 34]`` float, copies.
        unseen: ``[34]`` int8, copies left.
        sizes: ``[3]`` int64, tiles of each hand.
        draws: ``[3 * 14]`` float from 0 to 1, for the random tiles.
        out: ``[3, 34]`` int8, filled.
    """
    out[:] = 0
    left, missing = unseen.astype(np.int64), sizes.copy()
    distance = np.empty(_HANDS * KINDS)
    for hand in range(_HANDS):
        for kind in range(KINDS):
            score = scores[hand, kind]
            distance[hand * KINDS + kind] = abs(score - min(4.0, max(0.0, np.rint(score))))
    for place in np.argsort(distance, kind="mergesort"):
        hand, kind = place // KINDS, place % KINDS
        copies = int(min(4.0, max(0.0, np.rint(scores[hand, kind]))))
        copies = min(copies, missing[hand], left[kind])
        out[hand, kind] = copies
        missing[hand] -= copies
        left[kind] -= copies
    fill_at_random(out, left, missing, draws)


@kernel
def fill_at_random(hands: Any, left: Any, missing: Any, draws: Any) -> None:
    """Complete hands with random tiles.

    Args:
        hands: ``[3, 34]`` int8, completed.
        left: ``[34]`` int64, copies left, reduced.
        missing: ``[3]`` int64, tiles missing in each hand, reduced to 0.
        draws: ``[3 * 14]`` float from 0 to 1.
    """
    filled = 0
    for hand in range(_HANDS):
        while missing[hand] > 0:
            at = int(draws[filled] * left.sum())
            kind = 0
            while at >= left[kind]:
                at -= left[kind]
                kind += 1
            hands[hand, kind] += 1
            left[kind] -= 1
            missing[hand] -= 1
            filled += 1


@kernel
def round_together(scores: Any, unseen: Any, sizes: Any, out: Any) -> None:
    """The hands whose squared distance to the numbers is smallest.

    One tile after the other is placed along the cheapest path: a hand takes a kind, of which another hand may
    give up a copy for another kind in turn. As costs grow with every copy, the result is the best of all.

    Args:
        scores: ``[3, 34]`` float, copies.
        unseen: ``[34]`` int8, copies left.
        sizes: ``[3]`` int64, tiles of each hand.
        out: ``[3, 34]`` int8, filled.
    """
    out[:] = 0
    left = unseen.astype(np.int64)
    cost, giver, given = np.empty(_HANDS), np.empty(_HANDS, np.int64), np.empty(_HANDS, np.int64)
    for hand in range(_HANDS):
        for _ in range(sizes[hand]):
            _find_paths(scores, out, hand, cost, giver, given)
            best, last, kind = _FAR, -1, -1
            for end in range(_HANDS):
                for each in range(KINDS):
                    if left[each] > 0 and cost[end] + _adding(scores, out, end, each) < best:
                        best, last, kind = cost[end] + _adding(scores, out, end, each), end, each
            left[kind] -= 1
            out[last, kind] += 1
            while last != hand:  # `last` gave a copy of `given[last]` to the hand before it
                out[last, given[last]] -= 1
                out[giver[last], given[last]] += 1
                last = giver[last]


@kernel
def _find_paths(scores: Any, hands: Any, start: int, cost: Any, giver: Any, given: Any) -> None:
    """The cheapest way for each hand to be the one that still misses a tile, beginning with ``start``.

    Args:
        scores: ``[3, 34]``.
        hands: ``[3, 34]``, tiles placed so far.
        start: the hand that misses a tile now.
        cost: ``[3]``, filled.
        giver: ``[3]``, filled with the hand to which each one gives a copy.
        given: ``[3]``, filled with the kind it gives.
    """
    cost[:] = _FAR
    cost[start] = 0.0
    for _ in range(_HANDS - 1):
        for taker in range(_HANDS):
            if cost[taker] >= _FAR:
                continue
            for other in range(_HANDS):
                if other in (taker, start):
                    continue
                for kind in range(KINDS):
                    if hands[other, kind] == 0:
                        continue
                    path = cost[taker] + _adding(scores, hands, taker, kind)
                    path += 1.0 - 2.0 * (hands[other, kind] - scores[other, kind])
                    if path < cost[other] - 1e-12:
                        cost[other], giver[other], given[other] = path, taker, kind


@kernel
def _adding(scores: Any, hands: Any, hand: int, kind: int) -> float:
    """By how much one more copy raises the squared distance."""
    return float(1.0 + 2.0 * (hands[hand, kind] - scores[hand, kind]))


@kernel
def place_reds(hands: Any, unseen: Any, reds: Any, scores: Any, out: Any) -> None:
    """Decide which hand has each red five, or the wall.

    The hand with the highest score above ½ has it. If no copy of the five is left for the wall, a hand must.

    Args:
        hands: ``[3, 34]`` int8.
        unseen: ``[34]`` int8, copies left before these hands.
        reds: ``[3]`` bool, whether the red five of each suit is unseen.
        scores: ``[3, 3]`` float, by hand and suit.
        out: ``[3, 3]`` bool, filled.
    """
    out[:] = False
    for suit in range(3):
        if not reds[suit]:
            continue
        five = _FIVES[suit]
        in_wall = unseen[five] - hands[0, five] - hands[1, five] - hands[2, five]
        best, holder = 0.5 if in_wall > 0 else -_FAR, -1
        for hand in range(_HANDS):
            if hands[hand, five] > 0 and scores[hand, suit] > best:
                best, holder = scores[hand, suit], hand
        if holder >= 0:
            out[holder, suit] = True


@warms_up
def _warm_up() -> None:
    scores, unseen, sizes = np.zeros((3, KINDS)), np.full(KINDS, 4, np.int8), np.full(3, 13)
    out = np.zeros((3, KINDS), np.int8)
    round_greedily(scores, unseen, sizes, np.zeros(42), out)
    round_together(scores, unseen, sizes, out)
    place_reds(out, unseen, np.ones(3, np.bool_), np.zeros((3, 3)), np.zeros((3, 3), np.bool_))
