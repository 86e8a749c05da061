"""How much of a reward was the luck of its tiles: what others made of the same tiles tells.

The idea is that of duplicate bridge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def less_luck(rewards: NDArray[np.float64], groups: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """The rewards less what was to be expected of their tiles.

    The mean of the others' rewards in the same group is a baseline that does not depend on what was done for
    a reward; it is shrunk by how much the rewards of a group resemble each other.

    Args:
        rewards: ``[N]``, of mean 0.
        groups: ``[N]``: rewards of the same number had the same tiles.

    Returns:
        ``[N]``, the same with the baselines subtracted, and the share of the variance that they explain.

    >>> less_luck(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]))
    (array([0., 0., 0., 0.]), 1.0)
    """
    _, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    sums = np.bincount(places, rewards)
    alike = _correlation(rewards, places, sizes)
    others = sizes[places] - 1
    shrunk = alike / (1.0 + (others - 1) * alike)
    less = rewards - np.where(others > 0, shrunk * (sums[places] - rewards), 0.0)
    before = float(rewards.var()) if len(rewards) else 0.0
    return less, float(1.0 - less.var() / before) if before else 0.0


def _correlation(rewards: NDArray[np.float64], places: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """Correlation of two rewards of the same group, at least 0, by analysis of variance."""
    several = sizes > 1
    if several.sum() < 2:
        return 0.0
    counts = sizes[several]
    means = (np.bincount(places, rewards) / sizes)[several]
    inside = several[places]
    apart = rewards - (np.bincount(places, rewards) / sizes)[places]
    within = float((apart[inside] ** 2).sum() / (counts.sum() - len(counts)))
    between = float((counts * (means - np.average(means, weights=counts)) ** 2).sum() / (len(counts) - 1))
    typical = (counts.sum() - (counts**2).sum() / counts.sum()) / (len(counts) - 1)
    shared = (between - within) / typical
    return max(0.0, shared / (shared + within)) if shared + within > 0.0 else 0.0
