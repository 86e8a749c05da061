"""What each round was worth to each player, and how much of it was the luck of its wall.

Source: Suphx, arXiv:2003.13590, section 3.2. That other games over the same walls tell luck from skill is the
idea of duplicate bridge.
"""

from __future__ import annotations

from collections import defaultdict
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


def less_luck(
    games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]], replays: int
) -> tuple[list[NDArray[np.float64]], float]:
    """The rewards less what was to be expected of their walls, by what other games made of them.

    Two players who sat at the same place of the same wall were dealt the same hand. The mean of the others'
    rewards is a baseline that does not depend on what the player did; it is shrunk by how much such rewards
    resemble each other.

    Args:
        games: one or more; ``replays`` consecutive numbers share their walls, round by round.
        rewards: ``[T, 4]`` of each.
        replays: games over the same walls.

    Returns:
        The same with the baselines subtracted, and the share of their variance that they explain.
    """
    places: defaultdict[tuple[int, int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for at, game in enumerate(games):
        for number, start in enumerate(game.starts):
            for player in range(4):
                wind = (player - start["round_index"]) % 4
                places[game.number // replays, number, wind].append((at, number, player))
    groups = [np.array(group) for group in places.values() if len(group) > 1]
    found = [np.array([rewards[at][number, player] for at, number, player in group]) for group in groups]
    alike = _correlation(found)
    less = [rows.copy() for rows in rewards]
    for group, values in zip(groups, found, strict=True):
        others = len(values) - 1
        shrunk = alike / (1.0 + (others - 1) * alike)
        for (at, number, player), value in zip(group, values, strict=True):
            less[at][number, player] -= shrunk * (values.sum() - value)
    before, after = (np.concatenate([rows.ravel() for rows in each]).var() for each in (rewards, less))
    return less, float(1.0 - after / before) if before else 0.0


def _correlation(groups: Sequence[NDArray[np.float64]]) -> float:
    """Correlation of two numbers of the same group, at least 0, by analysis of variance."""
    if not groups:
        return 0.0
    sizes = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    degrees = sizes.sum() - len(groups)
    within = sum(((group - mean) ** 2).sum() for group, mean in zip(groups, means, strict=True)) / degrees
    overall = np.average(means, weights=sizes)
    between = (sizes * (means - overall) ** 2).sum() / max(1, len(groups) - 1)
    typical = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / max(1, len(groups) - 1)
    shared = (between - within) / typical if typical else 0.0
    return float(max(0.0, shared / (shared + within))) if shared + within > 0 else 0.0
