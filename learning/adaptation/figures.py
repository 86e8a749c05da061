"""The figures of `suzaku eval adaptation`, with intervals from resampled hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from learning.adaptation.plan import AdaptationPlan, AdaptedTo, HandRow
from learning.matches.statistics import Estimate, estimate, resample

_CLASSES: Final[tuple[tuple[str, range], ...]] = (
    ("East", range(4)),
    ("South 1 and 2", range(4, 6)),
    ("South 3 on", range(6, 12)),
)
"""Rounds of the game, by what is at stake."""


class PlayoutFigures(msgspec.Struct, frozen=True):
    """After one number of play-outs, with one divergence.

    Attributes:
        playouts: rounds learned from.
        allowed: largest divergence, allowed if the gradient is all signal; nats a decision.
        improved: share of the hands with a gain above 0 among those with another result.
        changed: share of the hands with another result.
        gain: mean gain of a hand.
        error: mean standard error of the gain of one hand.
        divergence: mean divergence from the policy of the start, nats a decision.
        luck: mean share of the variance of the play-outs explained by the tiles of their deals.
        signal: mean share of the squared length of the gradient that is not noise.
        seconds: mean CPU time of a hand.
        gains: the gain by round of the game.
    """

    playouts: int
    allowed: float
    improved: Estimate
    changed: float
    gain: Estimate
    error: float
    divergence: float
    luck: float
    signal: float
    seconds: float
    gains: dict[str, Estimate]


class AdaptationFigures(msgspec.Struct, frozen=True):
    """All figures.

    Attributes:
        hands: number of hands.
        playouts: by number of play-outs, and by divergence.
    """

    hands: int
    playouts: tuple[PlayoutFigures, ...]


def figures_of(plan: AdaptationPlan, rows: Sequence[HandRow], seed: int = 0) -> AdaptationFigures:
    """The figures of some hands.

    Args:
        plan: the plan.
        rows: at least one with tests.
        seed: seed of the resamples.
    """
    tested = [row for row in rows if row.adapted]
    rounds = np.array([row.round_index for row in tested])
    return AdaptationFigures(
        len(tested),
        tuple(
            _figures([row.adapted[place] for row in tested], rounds, seed)
            for place in range(len(plan.playouts) * len(plan.divergences))
        ),
    )


def _figures(tests: Sequence[AdaptedTo], rounds: NDArray[np.int64], seed: int) -> PlayoutFigures:
    gains = np.array([test.gain for test in tests])
    other = np.array([test.changed > 0.0 for test in tests])
    return PlayoutFigures(
        playouts=tests[0].playouts,
        allowed=tests[0].allowed,
        improved=_share((gains > 0.0)[other], seed),
        changed=float(other.mean()),
        gain=_mean(gains, seed),
        error=float(np.mean([test.error for test in tests])),
        divergence=float(np.mean([test.divergence for test in tests])),
        luck=float(np.mean([test.luck for test in tests])),
        signal=float(np.mean([test.signal for test in tests])),
        seconds=float(np.mean([test.seconds for test in tests])),
        gains={
            name: _mean(gains[some], seed)
            for name, part in _CLASSES
            if (some := np.isin(rounds, list(part))).any()
        },
    )


def _share(true: NDArray[np.bool_], seed: int) -> Estimate:
    return _mean(true.astype(np.float64), seed) if len(true) else Estimate(None, None, None)


def _mean(values: NDArray[np.float64], seed: int) -> Estimate:
    sums = np.column_stack([values, np.ones(len(values))])
    return estimate(sums, resample(sums, seed=seed), lambda totals: totals[..., 0] / totals[..., 1])
