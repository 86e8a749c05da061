"""What each round was worth to each player.

Source: Suphx, arXiv:2003.13590, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from game.settlement import GameLength
from learning.reinforcement.plan import RewardKind
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
