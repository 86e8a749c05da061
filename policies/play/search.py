"""Search: the options that the policy cannot tell apart are played out, and the best of them is taken.

All options are played over the same sampled deals. What they are worth is only an estimate, and the policy's
order says something too, so differences are shrunk towards what its probabilities suggest: a normal prior,
whose width is what sampled deals were measured to tell of true differences. An option that can hardly be the
best any more is played no further, and the search ends when one is left, or with its deals or its time.

This goes beyond the Suphx paper, which adapts the policy instead (`policies.adaptation`).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from policies.deals.deal import Deals
from policies.flow.decisions import OptionValue

Searching: TypeAlias = Generator[
    tuple[Sequence[Action], Sequence[int]], NDArray[np.float64] | None, "SearchResult"
]
"""A search that is under way; see `searching`."""

_SMALLEST: Final = 1e-6
"""Probabilities are kept this far from 0 where logarithms are taken."""


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to search.

    Attributes:
        options: most options to compare.
        close: least probability of an option that is compared, as a share of the likeliest one's.
        batch: deals between two looks at the figures.
        least: deals before an option may be dropped.
        deviation: prior standard deviation of the difference between close options, as far as sampled deals
            show it, in units of worth.
        order: expected loss of an option for each unit by which its log-probability is smaller, in the same
            units.
        doubt: an option is dropped if it is this many standard deviations behind the best.
    """

    options: int = 4
    close: float = 0.15
    batch: int = 16
    least: int = 32
    deviation: float = 130.0
    order: float = 20.0
    doubt: float = 2.0


class SearchResult(msgspec.Struct, frozen=True):
    """The outcome of a search.

    Attributes:
        options: best first.
        playouts: rounds played to their ends.
    """

    options: tuple[OptionValue, ...]
    playouts: int

    @property
    def action(self) -> Action:
        """The best option."""
        return self.options[0].action


def close_options(
    options: Sequence[Action], probabilities: Sequence[float], settings: SearchSettings
) -> list[tuple[Action, float]]:
    """The options worth comparing with their probabilities, likeliest first; one if none is close.

    Args:
        options: of one step of the decision flow.
        probabilities: of each.
        settings: how to search.
    """
    ranked = sorted(zip(options, probabilities, strict=True), key=lambda pair: -pair[1])
    least = settings.close * ranked[0][1]
    return [pair for pair in ranked[: settings.options] if pair[1] > 0.0 and pair[1] >= least]


def searching(
    deals: Deals, candidates: Sequence[tuple[Action, float]], settings: SearchSettings
) -> Searching:
    """Compare options, step by step, so that several searches can go on side by side.

    Yields options and the numbers of deals, and is sent ``[numbers, options]``, what these options are worth
    over those deals (`policies.play.playouts.Branching.values`), or None to end with what it has. Returns
    what it found.

    Args:
        deals: to play over.
        candidates: two or more options with their probabilities, likeliest first.
        settings: how to search.
    """
    figures = _Figures(candidates, deals, settings)
    for start in range(0, len(deals), settings.batch):
        if figures.decided:
            break
        numbers = range(start, min(start + settings.batch, len(deals)))
        values = yield [candidates[place][0] for place in figures.left], numbers
        if values is None:
            break
        figures.add(numbers, values)
    return figures.result()


def shrunk(ahead: float, error: float, ratio: float, settings: SearchSettings) -> tuple[float, float]:
    """Posterior mean and standard deviation of an option's advantage over the first.

    Args:
        ahead: how much more it was worth in play-outs.
        error: standard error of that, above 0.
        ratio: its probability over that of the first.
        settings: how to search.

    >>> shrunk(400.0, 300.0, 1.0, SearchSettings(deviation=300.0))[0]
    200.0
    """
    trust = 0.0 if math.isinf(error) else 1.0 / error**2
    certainty = trust + 1.0 / settings.deviation**2
    prior = settings.order * math.log(ratio)
    return (trust * ahead + prior / settings.deviation**2) / certainty, 1.0 / math.sqrt(certainty)


class _Figures:
    """The values of options so far, and which of them are still in question.

    Attributes:
        left: places of the options that may still be the best, and of the first, with which all are compared.
        decided: whether only one may be the best.
    """

    def __init__(
        self, candidates: Sequence[tuple[Action, float]], deals: Deals, settings: SearchSettings
    ) -> None:
        self._candidates, self._settings = candidates, settings
        self._values = np.full((len(deals), len(candidates)), np.nan)
        self._playouts = 0
        self.left = list(range(len(candidates)))
        self.decided = False

    def add(self, numbers: range, values: NDArray[np.float64]) -> None:
        """Add what the options left were worth over some deals, and drop those that fell behind."""
        self._values[np.ix_(list(numbers), self.left)] = values
        self._playouts += values.size
        if numbers.stop < self._settings.least:
            return
        found = {place: self._value(place) for place in self.left}
        best = max(self.left, key=lambda place: found[place].expected)
        behind = {
            place
            for place in self.left
            if place != best and self._behind(place, best, found[best].expected - found[place].expected)
        }
        self.decided = len(behind) == len(self.left) - 1
        self.left = [place for place in self.left if place == 0 or place not in behind]

    def _behind(self, place: int, best: int, gap: float) -> bool:
        """Whether an option is too far behind the best, both played out over the same deals."""
        _, error = self._difference(place, best)
        deviation = 1.0 / math.sqrt(1.0 / max(error, 1e-9) ** 2 + 1.0 / self._settings.deviation**2)
        return gap > self._settings.doubt * deviation

    def _difference(self, place: int, other: int) -> tuple[float, float]:
        """Mean and standard error of the advantage of one option over another."""
        apart = self._values[:, place] - self._values[:, other]
        apart = apart[np.isfinite(apart)]
        size = len(apart)
        if size == 0:
            return 0.0, math.inf
        mean = float(apart.mean())
        deviation = float(apart.std()) if size > 1 else math.inf
        # differences are often 0 in every deal so far, which does not make them certain
        floor = self._settings.deviation / math.sqrt(size)
        return mean, max(deviation / math.sqrt(max(1, size - 1)), floor if deviation == 0.0 else 0.0)

    def _value(self, place: int) -> OptionValue:
        action, probability = self._candidates[place]
        first = self._candidates[0][1]
        if place == 0:
            return OptionValue(action, probability, 0.0, 0.0, 0.0, 0.0, self._deals_of(place))
        ahead, error = self._difference(place, 0)
        ratio = max(probability, _SMALLEST) / max(first, _SMALLEST)
        expected, doubt = shrunk(ahead, error, ratio, self._settings)
        return OptionValue(action, probability, ahead, error, expected, doubt, self._deals_of(place))

    def _deals_of(self, place: int) -> int:
        return int(np.isfinite(self._values[:, place]).sum())

    def result(self) -> SearchResult:
        """The options, those left in question before those dropped."""
        found = [(place not in self.left, self._value(place)) for place in range(len(self._candidates))]
        found.sort(key=lambda pair: (pair[0], -pair[1].expected))
        return SearchResult(tuple(value for _, value in found), self._playouts)
