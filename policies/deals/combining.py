"""Chooses among weighted guesses at hands, and combines those at three hands to deals.

Hands are combined by a Gibbs sampler, which chooses one opponent's hand at a time, given the other two: in
proportion to its weight, and to the number of ways in which the three can be made of the tiles left. It takes
each opponent's guesses as drawn from all tiles left, without regard to the others. That is so for uniform
guesses; while a player is in riichi the others' differ from it a little, which is neglected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.jit import kernel, warms_up
from policies.deals.deal import shares
from policies.deals.learned import FACES
from policies.deals.uniform import next_bits
from policies.draws import drawn_bits

_GIBBS_ROUNDS: Final = 8
"""How often each hand of a deal is chosen anew, given the others."""


def thinned(
    logs: NDArray[np.float64], left: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Choose some of many weighted samples, so that the expected weight of each stays the same.

    Args:
        logs: ``[N]``, log weights.
        left: number to choose, below N.
        rng: source of the draws.

    Returns:
        At most ``left`` places, ascending, and their log weights: their own above a limit, which all others
        share.

    Source: Fearnhead and Clifford, "On-line inference for hidden Markov models via particle filters", 2003.
    """
    weights = shares(logs)
    falling = np.sort(weights)[::-1]
    rest = np.append(np.cumsum(falling[::-1])[::-1][1:], 0.0)
    # the first limit that leaves `left`: with n samples above it, the others share what is left of the number
    above = np.arange(len(weights))
    limits = np.append(1.0, rest)[:-1] / np.maximum(left - above, 1)
    number = int(np.argmax((falling < limits) | (above >= left - 1)))
    limit = limits[number]
    chances = np.cumsum(np.minimum(1.0, weights / limit))
    chances *= left / chances[-1]
    places = np.searchsorted(chances, np.arange(left) + rng.random(), side="right")
    chosen = np.unique(np.minimum(places, len(weights) - 1))
    return chosen, np.log(np.maximum(weights[chosen], limit))


def combined(
    faces: Sequence[NDArray[np.int8]],
    logs: Sequence[NDArray[np.float64]],
    copies: NDArray[np.int8],
    starts: NDArray[np.int8],
    seed: int,
) -> NDArray[np.int8]:
    """Combine guesses at three hands.

    Args:
        faces: for each opponent ``[N, 37]``, the guesses: copies of each face.
        logs: for each ``[N]``, their log weights.
        copies: ``[37]``, copies of each face there are.
        starts: ``[n, 3, 37]``, hands that fit together, to start from.
        seed: determines the choices.

    Returns:
        ``[n, 3, 37]``: hands that fit together.
    """
    hands = starts.copy()
    ends = np.cumsum([0, *map(len, logs)])
    every, weights = np.concatenate(faces), np.concatenate(logs)
    for number in range(len(starts)):
        state = np.array([drawn_bits(seed, number)], np.uint64)
        _combine(every, weights, ends, copies, _WAYS, state, hands[number])
    return hands


_WAYS: Final = np.array(
    [
        [
            sum(np.log(left - taken) for taken in range(wanted)) if wanted <= left else -np.inf
            for wanted in range(5)
        ]
        for left in range(5)
    ]
)
"""``[5, 5]``: log of the number of ways to lay so many tiles onto so many copies, in order."""


@kernel
def _combine(faces: Any, logs: Any, ends: Any, copies: Any, ways: Any, state: Any, hands: Any) -> None:
    """Choose each hand anew several times, given the other two; one that nothing fits stays."""
    for _ in range(_GIBBS_ROUNDS):
        for hand in range(3):
            others = hands[(hand + 1) % 3] + hands[(hand + 2) % 3]
            weights = logs[ends[hand] : ends[hand + 1]].copy()
            for guess in range(len(weights)):
                for face in range(FACES):
                    if others[face] > 0:
                        left = copies[face] - faces[ends[hand] + guess, face]
                        weights[guess] += ways[left, others[face]]
            if np.max(weights) > -np.inf:
                hands[hand] = faces[ends[hand] + _pick(weights, state)]


@kernel
def _pick(logs: Any, state: Any) -> int:
    """A place drawn in proportion to the exponentials."""
    top = np.max(logs)
    total = 0.0
    for log in logs:
        total += np.exp(log - top)
    share = total * float(next_bits(state) >> np.uint64(11)) * 2.0**-53
    for place in range(len(logs)):
        share -= np.exp(logs[place] - top)
        if share < 0.0:
            return place
    return int(np.argmax(logs))


@warms_up
def _warm_up() -> None:
    faces = np.zeros((1, FACES), np.int8)
    combined([faces] * 3, [np.zeros(1)] * 3, faces[0], np.zeros((1, 3, FACES), np.int8), 0)
