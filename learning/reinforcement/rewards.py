"""What each round was worth to each player, and how much of it was the luck of its wall.

Source: Suphx, arXiv:2003.13590, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from game.settlement import GameLength, RewardKind
from policies.luck import less_luck
from policies.reward import Predictor, round_rewards, together
from policies.trajectories import Trajectory

POINTS: Final = 1_000
"""Points of a round are counted in thousands."""


def rewards_of(
    games: Sequence[Trajectory], kind: RewardKind, predictor: Predictor, length: GameLength
) -> list[NDArray[np.float64]]:
    """The rewards of the rounds of finished games.

    Args:
        games: one or more.
        kind: ``points`` counts the points won in thousands; ``global`` is the change of the expected final
            reward: those of a game add up to its final reward less the expectation at its start.
        predictor: expects final rewards; not asked for points.
        length: of the games.

    Returns:
        ``[T, 4]`` for each game, by player.
    """
    if kind == "points":
        return [game.points / POINTS for game in games]
    padded = together([(game.starts, length) for game in games])
    rewards = round_rewards(predictor, padded, np.array([game.scores for game in games]))
    return [rows[: len(game.starts)] for rows, game in zip(rewards, games, strict=True)]


def less_wall_luck(
    games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]], replays: int
) -> tuple[list[NDArray[np.float64]], float]:
    """The rewards less what was to be expected of their walls, by what other games made of them.

    Two players who sat at the same place of the same wall were dealt the same hand; see `policies.luck`.

    Args:
        games: one or more; ``replays`` consecutive numbers share their walls, round by round.
        rewards: ``[T, 4]`` of each.
        replays: games over the same walls.

    Returns:
        The same with the baselines subtracted, and the share of their variance that they explain.
    """
    places: dict[tuple[int, int, int], int] = {}
    groups = [
        places.setdefault(
            (game.number // replays, number, (player - int(start["round_index"])) % 4), len(places)
        )
        for game in games
        for number, start in enumerate(game.starts)
        for player in range(4)
    ]
    less, explained = less_luck(
        np.concatenate([rows.ravel() for rows in rewards]), np.array(groups, np.int64)
    )
    ends = np.cumsum([rows.size for rows in rewards])[:-1]
    return [
        part.reshape(rows.shape) for part, rows in zip(np.split(less, ends), rewards, strict=True)
    ], explained
