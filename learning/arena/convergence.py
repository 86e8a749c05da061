"""Convergence of a comparison's average placement over its games."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from learning.matches.statistics import NORMAL, Floats

POINTS: Final = 120


class RunningAverage(msgspec.Struct, frozen=True):
    """The average after some games.

    Attributes:
        games: their number.
        placement: the challenger's average.
        low, high: its 95 % interval by the normal distribution, clipped to 1 and 4.
    """

    games: int
    placement: float
    low: float
    high: float


def convergence(placements: Floats, set_games: int) -> tuple[RunningAverage, ...]:
    """The average after increasing numbers of games, up to all.

    Args:
        placements: ``[S]``: the challenger's average place in each set, in order.
        set_games: games per set.

    Returns:
        At most `POINTS` states, from the second set on; a single set gives no estimate of the spread.
    """
    if len(placements) < 2:
        return ()
    counts = np.unique(np.linspace(2, len(placements), POINTS).astype(np.int64))
    means = np.cumsum(placements)[counts - 1] / counts
    squares = np.cumsum(placements**2)[counts - 1] / counts
    deviations = np.sqrt(np.maximum(0.0, squares - means**2) * counts / (counts - 1))
    reach = NORMAL * deviations / np.sqrt(counts)
    low, high = np.maximum(1.0, means - reach), np.minimum(4.0, means + reach)
    rows = zip((counts * set_games).tolist(), means.tolist(), low.tolist(), high.tolist(), strict=True)
    return tuple(RunningAverage(*row) for row in rows)
