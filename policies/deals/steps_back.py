"""Discards that took a hand further from tenpai: rare, unless a player folds, and quick to count.

Most hands drawn at random imply several of them. Counting them costs microseconds a guess, where a network
costs milliseconds, so it shows which of very many guesses are worth asking a network about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from game.jit import kernel, warms_up
from game.shanten import shanten
from policies.deals.past import Past, PastDecision


def steps_back(
    past: Past,
    hands: NDArray[np.int16],
    orders: NDArray[np.int16],
    decisions: Sequence[PastDecision],
) -> NDArray[np.int64]:
    """``[n]``: how many discards raised the shanten of the hand that each guess implies.

    Args:
        past: what the player did.
        hands: ``[n, size]``, the concealed tiles now.
        orders: ``[n, draws]`` from `Past.orders`.
        decisions: some decisions of ``past``; only discards count.
    """
    counted = np.zeros(len(hands), np.int64)
    discards = [each for each in decisions if each.doing == "discard"]
    before = past.hands_before(hands, orders, discards)
    for decision in discards:
        melds = int(decision.record["meld_count"][past.player])
        _count(before[decision.event][0], decision.taken.tile >> 2, melds, counted)
    return counted


@kernel
def _count(held: Any, kind: int, melds: int, counted: Any) -> None:
    hand34 = np.empty(34, np.int8)
    for number in range(len(held)):
        hand34[:] = 0
        for tile in range(136):
            hand34[tile >> 2] += held[number, tile]
        distance = shanten(hand34, melds)
        hand34[kind] -= 1
        counted[number] += shanten(hand34, melds) > distance


@warms_up
def _warm_up() -> None:
    held = np.zeros((1, 136), np.bool_)
    held[0, :14] = True
    _count(held, 0, 0, np.zeros(1, np.int64))
