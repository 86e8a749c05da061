"""Checks how often 95 % intervals contain the true value, with small runs drawn from a large one."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from learning.matches.statistics import Estimate, Floats, estimate, mean_place, resample, share

EQUAL: Final = 2.5
"""Average placement of players of the same strength."""
GAMES: Final = 400
"""Games in each run, or slightly fewer where sets do not fit."""


class Coverage(msgspec.Struct, frozen=True):
    """How often the intervals contain the average placement of equal players.

    Attributes:
        runs: number of runs drawn.
        games: games in each.
        inside: runs whose interval contains 2.5.
        share: their share, with its 95 % interval for this number of runs.
    """

    runs: int
    games: int
    inside: int
    share: Estimate

    def __str__(self) -> str:
        """One line of text."""
        value, low, high = (100.0 * (part or 0.0) for part in msgspec.structs.astuple(self.share))
        runs = f"{self.inside} of {self.runs} runs of {self.games} of these games"
        return f"2.5 is in the 95 % interval of {runs}: {value:.1f} %  [{low:.1f}, {high:.1f}]"


def coverage(
    counts: Floats, set_games: int, runs: int, *, games: int = GAMES, seed: int = 0
) -> Coverage | None:
    """Draw runs, and compute each one's interval as the report does.

    A run takes each set at most once, so on its own it is like a real run of that size. The runs share sets,
    so all of them deviate slightly in the same direction as the average of all games.

    Args:
        counts: ``[S, 4]``: how often the challenger took each place in each set.
        set_games: games per set.
        runs: number of runs to draw; 1 or more.
        games: games in each.
        seed: seed of the draw.

    Returns:
        None if there are fewer games than a run needs.
    """
    sets = games // set_games
    if sets > len(counts):
        return None
    rng = np.random.default_rng(seed)
    drawn = np.stack([counts[rng.choice(len(counts), sets, replace=False)] for _ in range(runs)], axis=1)
    # all runs at once: a report's weights depend on the number of its sets alone
    resampled = resample(drawn.reshape(sets, -1)).reshape(-1, runs, 4)
    inside = 0
    for run in range(runs):
        found = estimate(drawn[:, run], resampled[:, run], mean_place)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= EQUAL <= found.high
    return Coverage(runs, sets * set_games, inside, share(inside, runs))
