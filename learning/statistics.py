"""How sure a comparison is: resampling over duplicate sets, and what follows from places.

The games of one duplicate set share their walls, so sets are what is independent and is resampled. A set is
a row of sums (`[S, K]`: how often first, how many points …); a statistic is a function of such sums, taken
over all sets, and over as many drawn with replacement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Statistic: TypeAlias = Callable[[Floats], Floats]
"""Of sums ``[..., K]`` to numbers ``[...]``."""

RESAMPLES: Final = 5_000
LEAST_SETS: Final = 32
"""Before so many sets nothing is called clear: the intervals lean on many values being averaged."""

_LOW, _HIGH = 0.025, 0.975
NORMAL: Final = 1.959964
"""Deviations of a normal distribution on both sides of its mean that hold 95 %."""
_NARROWEST: Final = 500.0
"""Sets at which an interval that holds at every look is at its best."""
_AT_ONCE: Final = 250
"""Resamples made at a time, to keep the weights small."""


class Estimate(msgspec.Struct, frozen=True):
    """A number and where it lies with 95 %; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


class Spread(msgspec.Struct, frozen=True):
    """A number, the middle half of its resamplings, and 95 % of them; None where not defined or finite."""

    value: float | None
    first_quartile: float | None
    third_quartile: float | None
    low: float | None
    high: float | None


def resample(sums: Floats, count: int = RESAMPLES, seed: int = 0) -> Floats:
    """Sums over as many sets, drawn with replacement.

    Args:
        sums: ``[S, K]``, one row a set.
        count: how often.
        seed: of the drawing.

    Returns:
        ``[count, K]``.
    """
    rng = np.random.default_rng(seed)
    sets = len(sums)
    parts = []
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        weights = rng.multinomial(sets, np.full(sets, 1.0 / sets), size=size)
        parts.append(weights @ sums)
    return np.concatenate(parts)


def estimate(sums: Floats, drawn: Floats, statistic: Statistic) -> Estimate:
    """A statistic over all sets, with its 95 % interval.

    Args:
        sums: ``[S, K]``, one row a set.
        drawn: ``[N, K]``, as `resample` makes them.
        statistic: of sums.
    """
    value, of_drawn = _values(sums, drawn, statistic)
    low, high = _quantiles(of_drawn, _LOW, _HIGH)
    return Estimate(value, low, high)


def spread(sums: Floats, drawn: Floats, statistic: Statistic) -> Spread:
    """A statistic over all sets, with its interquartile range over the resamplings, and where 95 % lie."""
    value, of_drawn = _values(sums, drawn, statistic)
    return Spread(value, *_quantiles(of_drawn, 0.25, 0.75), *_quantiles(of_drawn, _LOW, _HIGH))


def share(part: int, whole: int) -> Estimate:
    """How often something happened, with its 95 % interval.

    Args:
        part: times it did.
        whole: times it could have, independently; 1 or more.

    Source: Wilson, 1927: where the share would have to lie for what was seen to be within 95 %.

    >>> found = share(190, 200)
    >>> [round(each, 3) for each in (found.value, found.low, found.high)]
    [0.95, 0.91, 0.973]
    """
    seen = part / whole
    shrink = 1.0 + NORMAL**2 / whole
    middle = seen + NORMAL**2 / (2 * whole)
    reach = NORMAL * math.sqrt(seen * (1.0 - seen) / whole + NORMAL**2 / (4 * whole**2))
    return Estimate(seen, (middle - reach) / shrink, (middle + reach) / shrink)


def ratio(part: int, whole: int, scale: float = 1.0) -> Statistic:
    """The statistic that is one column of the sums by another."""

    def statistic(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            divided: Floats = scale * sums[..., part] / sums[..., whole]
        return divided

    return statistic


def mean_place(counts: Floats) -> Floats:
    """``[..., 4]`` counts of the places to the average place.

    >>> float(mean_place(np.array([2.0, 1.0, 0.0, 1.0])))
    2.0
    """
    mean: Floats = counts @ np.arange(1.0, 5.0) / counts.sum(axis=-1)
    return mean


def _values(sums: Floats, drawn: Floats, statistic: Statistic) -> tuple[float | None, Floats]:
    return _finite(statistic(sums.sum(axis=0))), statistic(drawn)


def _quantiles(values: Floats, low: float, high: float) -> tuple[float | None, float | None]:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None, None
    # no interpolation: it would make nothing of two infinite neighbours
    ends = np.quantile(defined, (low, high), method="inverted_cdf")
    return _finite(ends[0]), _finite(ends[1])


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def half_width(deviation: float, count: int, level: float = 0.95) -> float:
    """Half the width of an interval for a mean that holds at every count at once, however often one looks.

    Looking again and again, and stopping as soon as such an interval leaves out the truth, errs with no more
    than ``1 - level``; with one that is made for a single look it would come to that almost surely.

    Args:
        deviation: standard deviation of single values.
        count: how many there were.
        level: of the interval.

    Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, arXiv:2103.06476, theorem 2.2 (asymptotic
    confidence sequences), narrowest at `_NARROWEST` values.
    """
    chance = 1.0 - level
    wish = -2.0 * math.log(chance)
    rho2 = (wish + math.log(wish + 1.0)) / _NARROWEST
    grown = count * rho2 + 1.0
    return deviation * math.sqrt(2.0 * grown / (count * count * rho2) * math.log(math.sqrt(grown) / chance))


def first_clear(values: Floats, equal: float, looks: Sequence[int]) -> int | None:
    """After how many values their mean is clearly another than ``equal``; None if it never is.

    Args:
        values: ``[S]``, independent, in a fixed order.
        equal: the mean of players of the same strength.
        looks: counts at which to look, ascending; those below `LEAST_SETS` are left out.
    """
    for count in looks:
        seen = values[:count]
        if count < LEAST_SETS or count > len(values):
            continue
        if abs(float(seen.mean()) - equal) > half_width(float(seen.std(ddof=1)), count):
            return count
    return None
