"""Statistics of comparisons: resampling over duplicate sets, and figures derived from places.

The games of one duplicate set share their walls, so sets are the independent units and are resampled. A set
is a row of sums (`[S, K]`: number of first places, points …). A statistic is a function of such sums, over
all sets or over equally many drawn with replacement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from kit.reports import number_text

Floats: TypeAlias = npt.NDArray[np.float64]
Statistic: TypeAlias = Callable[[Floats], Floats]
"""Maps sums ``[..., K]`` to numbers ``[...]``."""

RESAMPLES: Final = 5_000
LEAST_SETS: Final = 32
"""With fewer sets nothing is called clear: the intervals rely on averaging many values."""

_LOW, _HIGH = 0.025, 0.975
NORMAL: Final = 1.959964
"""Standard deviations on either side of the mean of a normal distribution that cover 95 %."""
_NARROWEST: Final = 500.0
"""Number of sets at which an always-valid interval is narrowest."""
_AT_ONCE: Final = 250
"""Resamples made at a time, to keep the weights small."""


class Estimate(msgspec.Struct, frozen=True):
    """A number and its 95 % interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        """The number with its interval in brackets.

        >>> str(Estimate(0.5, 0.25, 0.75)), str(Estimate(None, None, None))
        ('0.5 [0.25, 0.75]', 'not defined')
        """
        return _with_range(self.value, self.low, self.high)


class Spread(msgspec.Struct, frozen=True):
    """A number, its interquartile range and 95 % range over resamples; None if undefined or not finite."""

    value: float | None
    first_quartile: float | None
    third_quartile: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        """The number with its 95 % range in brackets."""
        return _with_range(self.value, self.low, self.high)


def resample(sums: Floats, count: int = RESAMPLES, seed: int = 0) -> Floats:
    """Sums over equally many sets, drawn with replacement.

    Args:
        sums: ``[S, K]``, one row per set.
        count: number of resamples.
        seed: seed of the draw.

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
        sums: ``[S, K]``, one row per set.
        drawn: ``[N, K]``, from `resample`.
        statistic: function of the sums.
    """
    value, of_drawn = _values(sums, drawn, statistic)
    low, high = _quantiles(of_drawn, _LOW, _HIGH)
    return Estimate(value, low, high)


def spread(sums: Floats, drawn: Floats, statistic: Statistic) -> Spread:
    """A statistic over all sets, with its interquartile range and its 95 % range over the resamples."""
    value, of_drawn = _values(sums, drawn, statistic)
    return Spread(value, *_quantiles(of_drawn, 0.25, 0.75), *_quantiles(of_drawn, _LOW, _HIGH))


def ratio(part: int, whole: int, scale: float = 1.0) -> Statistic:
    """The ratio of one column of the sums to another, as a statistic."""

    def statistic(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            divided: Floats = scale * sums[..., part] / sums[..., whole]
        return divided

    return statistic


def mean_place(counts: Floats) -> Floats:
    """Average place from ``[..., 4]`` counts of the places.

    >>> float(mean_place(np.array([2.0, 1.0, 0.0, 1.0])))
    2.0
    """
    mean: Floats = counts @ np.arange(1.0, 5.0) / counts.sum(axis=-1)
    return mean


def _with_range(*numbers: float | None) -> str:
    texts = [number_text(each) for each in numbers if each is not None]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]" if len(texts) == len(numbers) else "not defined"


def _values(sums: Floats, drawn: Floats, statistic: Statistic) -> tuple[float | None, Floats]:
    return _finite(statistic(sums.sum(axis=0))), statistic(drawn)


def _quantiles(values: Floats, low: float, high: float) -> tuple[float | None, float | None]:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None, None
    # no interpolation: between two infinite neighbours it would give NaN
    ends = np.quantile(defined, (low, high), method="inverted_cdf")
    return _finite(ends[0]), _finite(ends[1])


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def half_width(deviation: float, count: int, level: float = 0.95) -> float:
    """Half the width of an always-valid interval for a mean: it holds at all counts at once.

    Checking repeatedly, and stopping as soon as such an interval excludes the true mean, errs with a
    probability of at most ``1 - level``; with an interval made for a single check that would happen almost
    surely.

    Args:
        deviation: standard deviation of single values.
        count: number of values.
        level: level of the interval.

    Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, arXiv:2103.06476, theorem 2.2 (asymptotic
    confidence sequences), narrowest at `_NARROWEST` values.
    """
    chance = 1.0 - level
    wish = -2.0 * math.log(chance)
    rho2 = (wish + math.log(wish + 1.0)) / _NARROWEST
    grown = count * rho2 + 1.0
    return deviation * math.sqrt(2.0 * grown / (count * count * rho2) * math.log(math.sqrt(grown) / chance))


def first_clear(values: Floats, equal: float, looks: Sequence[int]) -> int | None:
    """Number of values after which their mean clearly differs from ``equal``; None if it never does.

    Args:
        values: ``[S]``, independent, in a fixed order.
        equal: the mean for players of equal strength.
        looks: counts at which to check, ascending; those below `LEAST_SETS` are skipped.
    """
    for count in looks:
        seen = values[:count]
        if count < LEAST_SETS or count > len(values):
            continue
        if abs(float(seen.mean()) - equal) > half_width(float(seen.std(ddof=1)), count):
            return count
    return None
