"""Tables of counted final rewards, as a baseline that the reward predictor must beat."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.ranking import Rewards
from game.settlement import LAST_ROUND
from learning.reward.games import GamesWithPlaces
from policies.reward import PaddedGames, places_of

Cells: TypeAlias = NDArray[np.int64]
"""``[G, T, 4]``: the cell of each player at the start of each round."""

ROUND_AND_PLACE: Final = 1
"""Cells by rounds left to the last regular one, and current place."""
AND_GAPS: Final = 2
"""The same cells, divided by the gaps to the next player above and below."""

_SHRINKAGE: Final = 30.0
"""Number of players in a finer cell at which it counts as much as the coarser one (by validation)."""
_GAPS: Final = (1_000, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000)
"""Thresholds between classes of score differences."""
_BUCKETS: Final = len(_GAPS) + 1
_FIRST: Final = -7
_LAST: Final = 1
_COARSE: Final = 4 * (_LAST - _FIRST + 1)
_SIZES: Final = (_COARSE, _COARSE * _BUCKETS**2)


class RewardTable:
    """The mean reward of the players in the same cell.

    A finer cell adds the mean residual of the coarser one, shrunk towards zero where it has few players.

    Args:
        played: games to count.
        levels: `ROUND_AND_PLACE` or `AND_GAPS`.
        rewards: rewards of the places.
    """

    def __init__(self, played: GamesWithPlaces, levels: int, rewards: Rewards) -> None:
        dealt = played.games.dealt
        left = np.broadcast_to(np.array(rewards)[played.places - 1][:, None], (*dealt.shape, 4))[dealt]
        self._means: list[NDArray[np.float64]] = []
        for cells, size in zip(cells_of(played.games)[:levels], _SIZES, strict=False):
            counted = cells[dealt]
            players = np.bincount(counted.ravel(), minlength=size)
            sums = np.bincount(counted.ravel(), left.ravel(), minlength=size)
            means = sums / np.maximum(players + (_SHRINKAGE if self._means else 0.0), 1.0)
            left = left - means[counted]
            self._means.append(means)

    def expected(self, games: PaddedGames) -> NDArray[np.float64]:
        """``[G, T, 4]`` rewards, as `policies.reward.predict` returns them."""
        total = np.zeros((*games.starts.shape, 4))
        for means, cells in zip(self._means, cells_of(games), strict=False):
            total += means[cells]
        return total


def cells_of(games: PaddedGames) -> tuple[Cells, Cells]:
    """The cells of both levels, the coarse one first."""
    scores = games.starts["scores"].astype(np.int64)
    last = np.where(games.hanchan, LAST_ROUND["hanchan"], LAST_ROUND["tonpuu"])
    past = np.clip(games.starts["round_index"] - last[:, None], _FIRST, _LAST) - _FIRST
    places = places_of(scores) - 1
    coarse = past[..., None] * 4 + places
    gaps = np.digitize(-np.diff(-np.sort(-scores, axis=-1), axis=-1), _GAPS)
    none = np.zeros_like(gaps[..., :1])
    above = np.take_along_axis(np.concatenate((none, gaps), axis=-1), places, axis=-1)
    below = np.take_along_axis(np.concatenate((gaps, none), axis=-1), places, axis=-1)
    return coarse, (coarse * _BUCKETS + above) * _BUCKETS + below
