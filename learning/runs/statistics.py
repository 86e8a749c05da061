"""Statistics of comparisons: resampling over games or duplicate sets, and figures derived from places.

The games of one duplicate set share their walls, and decisions of one game depend on each other, so sets or
games are the independent units and are resampled. A unit is a row of sums (`[S, K]`: number of first places,
points …). A statistic is a function of such sums, over all units or over equally many drawn with replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from kit.reports import number_text

Floats: TypeAlias = npt.NDArray[np.float64]
Statistic: TypeAlias = Callable[[Floats], Floats]
"""Maps sums ``[..., K]`` to numbers ``[...]``."""

RESAMPLES: Final = 5_000

_LOW, _HIGH = 0.025, 0.975
_AT_ONCE: Final = 250
"""Resamples made at a time, to keep the weights small."""


class Estimate(msgspec.Struct, frozen=True):
    """A number and its 95 % interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        """The number with its interval.

        >>> str(Estimate(0.5, 0.25, 0.75)), str(Estimate(None, None, None))
        ('0.5 (0.25–0.75)', '-')
        """
        return _with_range(self.value, self.low, self.high, number_text)

    def text(self, digits: int, scale: float = 1.0) -> str:
        """The number with its interval, to some digits.

        >>> Estimate(0.5, 0.25, 0.75).text(1, 100.0), Estimate(1.0, -2.0, 4.0).text(0)
        ('50.0 (25.0–75.0)', '1 (-2 to 4)')
        """
        return _with_range(self.value, self.low, self.high, lambda each: f"{scale * each:,.{digits}f}")

    def verdict(self, above: str, below: str) -> str:
        """The verdict of an interval above 0, or of one below.

        >>> Estimate(2.0, 1.0, 3.0).verdict("it gains", "it loses")
        'it gains'
        """
        low, high = self.low or 0.0, self.high or 0.0
        return above if low > 0.0 else below if high < 0.0 else "no clear difference"


class Ranges(msgspec.Struct, frozen=True):
    """A number, its interquartile range and 95 % range over resamples; None if undefined or not finite."""

    value: float | None
    first_quartile: float | None
    third_quartile: float | None
    low: float | None
    high: float | None

    def text(self, digits: int, scale: float = 1.0) -> str:
        """The number with its interquartile range, to some digits."""
        return Estimate(self.value, self.first_quartile, self.third_quartile).text(digits, scale)


class Means:
    """Means over cases, with intervals from resampling the games of the cases.

    Args:
        games: ``[N]`` the game of each case; at least one case.
        columns: ``[N]`` or ``[N, K]`` values of the cases.
    """

    def __init__(self, games: npt.ArrayLike, *columns: npt.ArrayLike) -> None:
        place = np.unique(games, return_inverse=True)[1]
        values = np.column_stack([np.ones(len(place)), *columns])
        self._sums: Floats = np.zeros((place.max() + 1, values.shape[1]))
        np.add.at(self._sums, place, values)
        self._drawn = resample(self._sums)

    def __getitem__(self, column: int) -> Estimate:
        """The mean of a column.

        >>> Means([7, 7, 8], [1.0, 1.0, 4.0])[0]
        Estimate(value=2.0, low=1.0, high=4.0)
        """
        return self.of(lambda means: means[..., column])

    def of(self, statistic: Statistic) -> Estimate:
        """A statistic of the means ``[..., K]``, without an interval if all cases are of one game."""
        found = estimate(self._sums, self._drawn, lambda sums: statistic(sums[..., 1:] / sums[..., :1]))
        return found if len(self._sums) > 1 else Estimate(found.value, None, None)


def resample(sums: Floats, count: int = RESAMPLES, seed: int = 0) -> Floats:
    """Sums over equally many units, drawn with replacement.

    Args:
        sums: ``[S, K]``, one row per unit.
        count: number of resamples.
        seed: seed of the draw.

    Returns:
        ``[count, K]``.
    """
    rng = np.random.default_rng(seed)
    units = len(sums)
    parts = []
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        weights = rng.multinomial(units, np.full(units, 1.0 / units), size=size)
        parts.append(weights @ sums)
    return np.concatenate(parts)


def estimate(sums: Floats, drawn: Floats, statistic: Statistic) -> Estimate:
    """A statistic over all units, with its 95 % interval.

    Args:
        sums: ``[S, K]``, one row per unit.
        drawn: ``[N, K]``, from `resample`.
        statistic: function of the sums.
    """
    value, of_drawn = _values(sums, drawn, statistic)
    low, high = _quantiles(of_drawn, _LOW, _HIGH)
    return Estimate(value, low, high)


def ranges(sums: Floats, drawn: Floats, statistic: Statistic) -> Ranges:
    """A statistic over all units, with its interquartile range and its 95 % range over the resamples."""
    value, of_drawn = _values(sums, drawn, statistic)
    return Ranges(value, *_quantiles(of_drawn, 0.25, 0.75), *_quantiles(of_drawn, _LOW, _HIGH))


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


def _with_range(
    value: float | None, low: float | None, high: float | None, text: Callable[[float], str]
) -> str:
    shown, *ends = ("-" if each is None else text(each) for each in (value, low, high))
    if ends == ["-", "-"]:
        return shown
    return f"{shown} ({(' to ' if '-' in ''.join(ends) else '–').join(ends)})"


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
