"""How a comparison's average placement settled as games went on."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from learning.statistics import NORMAL, Floats

POINTS: Final = 120


class Stand(msgspec.Struct, frozen=True):
    """After some games.

    Attributes:
        games: so many.
        placement: the challenger's average.
        low, high: its 95 % interval, as the normal distribution has it, cut off at 1 and 4.
    """

    games: int
    placement: float
    low: float
    high: float


def course(placements: Floats, set_games: int) -> tuple[Stand, ...]:
    """The average after a few games, after some more, and so on to all.

    Args:
        placements: ``[S]``: the challenger's average place in each set, in order.
        set_games: games of a set.

    Returns:
        `POINTS` stands at most, from the second set on; before it nothing is known of the spread.
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
    return tuple(Stand(*row) for row in rows)
