"""Tenhou's rank ladder, climbed with given chances of each place: the rank a player can expect to reach.

Source: Suphx, arXiv:2003.13590, table 6 and appendix B; `game.ranking` has its numbers. That nobody falls
below 1-dan here is a simplification: who could would not be compared by his dan.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from game.ranking import PROMOTION_POINTS, TENHOUI, Room, rank_points
from game.settlement import GameLength
from learning.statistics import Floats

FIRST_DAN: Final = 10
"""Index of 1-dan."""
START: Final = FIRST_DAN + 3
"""4-dan, from which on one plays in the room of the paper's games."""
GAMES: Final = 2_000
CLIMBERS: Final = 2_000


class Ladder(msgspec.Struct, frozen=True):
    """Where climbers stand after many games.

    Attributes:
        room: all games are played in.
        games: each climber's, from 4-dan on.
        dan: average; Tenhoui counts as 11.
        first_quartile: a quarter of the climbers stands here or lower.
        third_quartile: a quarter stands here or higher.
        tenhoui: share of those who got above 10-dan.
    """

    room: Room
    games: int
    dan: float
    first_quartile: float
    third_quartile: float
    tenhoui: float


def climb(
    counts: Floats,
    length: GameLength,
    room: Room = "tokujou",
    *,
    games: int = GAMES,
    climbers: int = CLIMBERS,
    seed: int = 0,
) -> Ladder:
    """Let players climb whose places come with the frequencies counted.

    Args:
        counts: ``[N, 4]`` of the places; each climber takes one row's, so that resampled counts carry their
            uncertainty into the spread of the climbers.
        length: of the games.
        room: all games are played in.
        games: each plays.
        climbers: how many there are.
        seed: of their luck.
    """
    rng = np.random.default_rng(seed)
    chances = counts[np.arange(climbers) % len(counts)]
    bounds = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)[:, :3]
    gains = _gains(length, room)
    ranks = np.full(climbers, START, dtype=np.int64)
    points = _starts()[ranks]
    for _ in range(games):
        places = (rng.random(climbers)[:, None] >= bounds).sum(axis=1)
        points += gains[ranks, places]
        ranks, points = _moved(ranks, points)
    dans = ranks - FIRST_DAN + 1
    low, high = np.quantile(dans, (0.25, 0.75))
    return Ladder(room, games, float(dans.mean()), float(low), float(high), float((ranks == TENHOUI).mean()))


def _moved(
    ranks: npt.NDArray[np.int64], points: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Promote who has points enough, demote who has none left; both start anew in their rank."""
    starts = _starts()
    goals = np.array([*PROMOTION_POINTS, np.iinfo(np.int64).max])
    up, down = points >= goals[ranks], points < 0
    moved = np.clip(ranks + up - down, FIRST_DAN, TENHOUI)
    return moved, np.where(up | down, starts[moved], points)


def _starts() -> npt.NDArray[np.int64]:
    """Points a new rank begins with."""
    halves = [goal // 2 if rank >= FIRST_DAN else 0 for rank, goal in enumerate(PROMOTION_POINTS)]
    return np.array([*halves, 0], dtype=np.int64)


def _gains(length: GameLength, room: Room) -> npt.NDArray[np.int64]:
    """``[ranks, 4]``: points for each place."""
    return np.array(
        [[rank_points(place, rank, room, length) for place in (1, 2, 3, 4)] for rank in range(TENHOUI + 1)]
    )
