"""Exploitability as the paper measures it: the best score of the abstract policies on fixed deals.

For each deal and seat, the strategy plays against each policy, and the opponent's highest score counts. An
opponent that saw all tiles before it chose its policy would get that, so it is above what any opponent can
get by choosing one policy for the whole game. It is not above a best response that changes policies.

Source: the CFR-p paper, section 5.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.two_player.layout import PLAYERS, TILES, shuffle
from kit.jit import kernel
from learning.cfr.deal_tree import LIKELY, expand, new_deal_tree
from policies.two_player.abstraction import POLICIES
from policies.two_player.playing import BY_TABLE, play_duel


class BenchmarkScores(NamedTuple):
    """Scores of the opponents.

    Attributes:
        expected: ``[N, 2, 3]`` float64: of each policy on each deal, against the strategy in seat 0 and in
            seat 1, for the opponent; expectations over the strategy's draws.
        sampled: ``[N, 2, 3]`` float64: of one game each.
    """

    expected: NDArray[np.float64]
    sampled: NDArray[np.float64]


class BenchmarkResult(NamedTuple):
    """The means of the scores.

    Attributes:
        exploitability: of the highest expected score on each deal.
        sampled: of the highest score on each deal, from one game each: the paper's figure.
        fixed: the highest of ``policies``, the score of the best single policy.
        policies: of each policy.
        seats: ``exploitability`` with the strategy in seat 0 and in seat 1.
    """

    exploitability: float
    sampled: float
    fixed: float
    policies: tuple[float, ...]
    seats: tuple[float, ...]


def measure(weights: NDArray[np.float64], deals: int, seed: int, first: int = 0) -> BenchmarkScores:
    """Play the benchmark.

    Args:
        weights: ``[KEYS, 3]`` float64: the strategy, by `policies.two_player.playing.match_regrets`.
        deals: number of deals.
        seed: of the series of deals (`deal_series`).
        first: number of the first deal.
    """
    expected = np.zeros((deals, PLAYERS, POLICIES))
    sampled = np.zeros_like(expected)
    benchmark(weights, new_deal_tree(), seed, first, expected, sampled)
    return BenchmarkScores(expected, sampled)


def deal_series(seed: int, *, training: bool) -> int:
    """The seed of the deals of a run for learning or for measuring: never the same.

    >>> deal_series(3, training=True), deal_series(3, training=False)
    (7, 6)
    """
    return 2 * seed + training


def summed_up(scores: BenchmarkScores) -> BenchmarkResult:
    """The means of scores."""
    policies = scores.expected.mean(axis=(0, 1))
    seats = scores.expected.max(axis=2).mean(axis=0)
    return BenchmarkResult(
        float(seats.mean()),
        float(scores.sampled.max(axis=2).mean()),
        float(policies.max()),
        tuple(policies.tolist()),
        tuple(seats.tolist()),
    )


@kernel
def benchmark(
    weights: NDArray[np.float64],
    tree: Any,
    seed: int,
    first: int,
    expected: NDArray[np.float64],
    sampled: NDArray[np.float64],
) -> None:
    """Fill in `BenchmarkScores` for the deals from ``first`` on."""
    wall = np.zeros(TILES, np.int8)
    for number in range(len(expected)):
        shuffle(seed, first + number, wall)
        for seat in range(PLAYERS):
            sign = 1.0 if seat == 1 else -1.0
            for policy in range(POLICIES):
                tried = (LIKELY if seat == 0 else policy, LIKELY if seat == 1 else policy)
                expand(tree, wall, weights, tried, seed, first + number)
                expected[number, seat, policy] = sign * tree.value[0]
                # a deal's six games are six games: each has draws of its own
                ways = (BY_TABLE if seat == 0 else policy, BY_TABLE if seat == 1 else policy)
                game = ((first + number) * PLAYERS + seat) * POLICIES + policy
                sampled[number, seat, policy] = sign * play_duel(
                    tree.positions[0], wall, tree.commitments[0], ways, (weights, weights), seed, game
                )
