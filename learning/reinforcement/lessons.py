"""What one model can learn from a block of games: its decisions, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learning.reinforcement.plan import ReinforcementPlan
from policies.features.kinds import kinds_of
from policies.gradient import log_policy
from policies.inference import Model
from policies.slots import Slot
from policies.trajectories import Trajectory, options_of


class PlayLesson(NamedTuple):
    """The decisions of a block, with what came of them.

    Attributes:
        decisions: ``[N]`` of `policies.trajectories.DECISION`, or of `policies.trajectories.ANSWER`.
        rewards: ``[N]`` float32, of their rounds.
        walls: ``[N, 136]`` int16, of their rounds.
        paths: ``[N]`` int64, the same for all that a player decided in a round, in the order of play.
        points: ``[N]`` float32, points of the player in the round.
        seats: of how many players' games all decisions of the block are.
    """

    decisions: NDArray[np.void]
    rewards: NDArray[np.float32]
    walls: NDArray[np.int16]
    paths: NDArray[np.int64]
    points: NDArray[np.float32]
    seats: int

    def some(self, rows: NDArray[np.int64] | slice) -> PlayLesson:
        """Some of the decisions."""
        return PlayLesson(
            self.decisions[rows],
            self.rewards[rows],
            self.walls[rows],
            self.paths[rows],
            self.points[rows],
            self.seats,
        )


def lesson_of(
    games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]], slot: Slot = Slot.DISCARD
) -> PlayLesson:
    """What a model decided in games, each with the reward ``[T, 4]`` of its round."""
    decided = [game.of(slot) for game in games]
    found = [rows[part["round"], part["player"]] for part, rows in zip(decided, rewards, strict=True)]
    walls = np.concatenate([game.walls[part["round"]] for game, part in zip(games, decided, strict=True)])
    rounds_before = np.cumsum([0, *(len(game.starts) for game in games[:-1])])
    paths = [
        4 * (before + part["round"].astype(np.int64)) + part["player"]
        for before, part in zip(rounds_before, decided, strict=True)
    ]
    points = [game.points[part["round"], part["player"]] for game, part in zip(games, decided, strict=True)]
    return PlayLesson(
        np.concatenate(decided),
        np.concatenate(found).astype(np.float32),
        walls,
        np.concatenate(paths),
        np.concatenate(points).astype(np.float32),
        sum(len(np.unique(part["player"])) for part in decided),
    )


def log_draws(model: Model, decisions: NDArray[np.void], plan: ReinforcementPlan) -> Tensor:
    """``[N, 34]``: log-probabilities with which a model would draw a discard; far below 0 elsewhere.

    Args:
        model: of discards.
        decisions: ``[N]`` of `policies.trajectories.DECISION`.
        plan: how they are drawn.
    """
    scores = model.look(decisions["state"], decisions["player"], None, plan.length)
    return log_policy(
        torch.from_numpy(scores), torch.from_numpy(kinds_of(decisions["drawn"])), plan.temperature
    )


def log_answers(model: Model, answers: NDArray[np.void], plan: ReinforcementPlan) -> Tensor:
    """``[N, K + 1]``: those with which a model would draw a call, or none; far below 0 elsewhere.

    Args:
        model: one that answers yes or no.
        answers: ``[N]`` of `policies.trajectories.ANSWER`, of its slot; at least one.
        plan: how they are drawn.
    """
    legal, drawn, _ = options_of(answers)
    asked = legal[:, :-1]
    rows = np.nonzero(asked)[0]
    calls = answers["calls"][:, : asked.shape[1]][asked] if model.of_calls else None
    logits = model.look(answers["state"][rows], answers["player"][rows], calls, plan.length)
    scores = np.zeros(legal.shape, np.float32)
    scores[:, :-1][asked] = logits[:, 1] - logits[:, 0]
    scores[:, -1] = answers["others"]
    return log_policy(torch.from_numpy(scores), torch.from_numpy(drawn), plan.temperature)


def against_riichi(decisions: NDArray[np.void]) -> NDArray[np.bool_]:
    """``[N]``: whether another player had declared riichi.

    Args:
        decisions: ``[N]`` of `policies.trajectories.DECISION`.
    """
    declared = np.greater(decisions["state"]["riichi"], 0)
    declared[np.arange(len(decisions)), decisions["player"]] = False
    return np.asarray(declared.any(axis=1), np.bool_)
