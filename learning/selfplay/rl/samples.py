"""The samples of a block of games: discards sampled by the policy, with the rewards of their rounds.

Source: Suphx, arXiv:2003.13590, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.scoring.settlement import GameLength, RewardKind
from policies.policy_gradient.trajectories import Trajectory
from policies.reward import Predictor, round_rewards, together

POINTS: Final = 1_000
"""The reward ``points`` counts thousands."""


class BlockSamples(NamedTuple):
    """The decisions of a block with their rewards.

    Attributes:
        decisions: ``[N]`` of `policies.policy_gradient.trajectories.DECISION`.
        rewards: ``[N]`` float32, rewards of their rounds.
        walls: ``[N, 136]`` int16, walls of their rounds.
    """

    decisions: NDArray[np.void]
    rewards: NDArray[np.float32]
    walls: NDArray[np.int16]

    def some(self, rows: NDArray[np.int64] | slice) -> BlockSamples:
        """A subset of the samples."""
        return BlockSamples(self.decisions[rows], self.rewards[rows], self.walls[rows])


def samples_of(games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]]) -> BlockSamples:
    """The decisions of games, each with the reward of its player's round.

    Args:
        games: one or more.
        rewards: ``[T, 4]`` for each game, by round and player.
    """
    decisions = [game.decisions for game in games]
    found = [rows[part["round"], part["player"]] for part, rows in zip(decisions, rewards, strict=True)]
    walls = [game.walls[part["round"]] for game, part in zip(games, decisions, strict=True)]
    return BlockSamples(
        np.concatenate(decisions), np.concatenate(found).astype(np.float32), np.concatenate(walls)
    )


def rewards_of(
    games: Sequence[Trajectory], kind: RewardKind, predictor: Predictor, length: GameLength
) -> list[NDArray[np.float64]]:
    """The rewards of the rounds of finished games.

    Args:
        games: one or more.
        kind: ``points`` counts the points won in thousands; ``global`` is the change of the expected final
            reward, so that a game's rewards add up to its final reward less the expectation at its start.
        predictor: predicts final rewards; unused for ``points``.
        length: length of the games.

    Returns:
        ``[T, 4]`` for each game, by player.
    """
    if kind == "points":
        return [game.points / POINTS for game in games]
    padded = together([(game.starts, length) for game in games])
    rewards = round_rewards(predictor, padded, np.array([game.scores for game in games]))
    return [rows[: len(game.starts)] for rows, game in zip(rewards, games, strict=True)]
