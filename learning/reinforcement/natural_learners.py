"""All models that learn by the natural policy gradient of their last layers: a step after each block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from learning.reinforcement.actors import version_for
from learning.reinforcement.beginning import load_starting
from learning.reinforcement.lessons import PlayLesson, lesson_of
from learning.reinforcement.natural_step import FOLDS, DrawSums
from learning.reinforcement.parameters import pack_models
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.policy_learner import gained
from policies.features.kinds import kinds_of
from policies.gradient import log_policy, share_gained
from policies.inference import Model
from policies.last_layer import LastLayer
from policies.natural_gradient import Draws
from policies.slots import Slot
from policies.trajectories import Trajectory, options_of

_ROWS: Final = 128
"""Decisions whose layers are in memory at once."""
_ERRORS: Final = 2.0
"""Standard errors that a step must gain to be taken; the more it gains beyond them, the more of it is."""


class NaturalLearners:
    """What learns from a block of games, and what actors get of it, as `Learners`.

    Args:
        plan: of the run.
        start: folder of the checkpoints to start from.

    Attributes:
        begun: the models of the start.

    Raises:
        CheckpointError: one cannot be used.
        ConfigError: a model of the plan cannot learn.
    """

    def __init__(self, plan: ReinforcementPlan, start: Path) -> None:
        self.plan = plan
        self.begun = {slot: load_starting(start, slot, plan.tie_break) for slot in plan.slots}
        self._learners = {
            slot: _NaturalLearner(
                slot, plan, Model(begun.network, str(begun.card.features), begun.card.without)
            )
            for slot, begun in self.begun.items()
        }

    def close(self) -> None:
        """Nothing to stop."""

    def learn(
        self, games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]], block: int
    ) -> dict[str, float]:
        """Learn from a block.

        Args:
            games: its games.
            rewards: ``[T, 4]`` of each.
            block: its number.

        Returns:
            What was seen: ``policy/…`` of discards, and ``riichi/…`` and so on of the others.
        """
        found: dict[str, float] = {}
        for slot, learner in self._learners.items():
            seen = learner.learn(games, lesson_of(games, rewards, slot), block)
            name = "policy" if slot is Slot.DISCARD else slot
            found |= {f"{name}/{figure}": value for figure, value in seen.items()}
        return found

    def acting(self) -> bytes:
        """The weights that actors play with: those of the last step."""
        return pack_models(self.normal())

    def normal(self) -> Mapping[Slot, Mapping[str, Tensor]]:
        """The weights of the last step."""
        return {
            slot: learner.moved(self.begun[slot].network.state_dict())
            for slot, learner in self._learners.items()
        }

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {slot.value: learner.state() for slot, learner in self._learners.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        for slot, learner in self._learners.items():
            learner.restore(state[slot.value])


class _NaturalLearner:
    """The last layer of one model."""

    def __init__(self, slot: Slot, plan: ReinforcementPlan, model: Model) -> None:
        self._slot, self._plan, self._model = slot, plan, model
        self._layer = LastLayer(model.network, model.blank)
        self._sums = DrawSums(self._layer.size, plan.temperature)
        # what the steps have added to the function that scores are, by version
        self._changes = {0: torch.zeros(self._layer.size)}

    def learn(self, games: Sequence[Trajectory], lesson: PlayLesson, block: int) -> dict[str, float]:
        """Learn from a block, and take a step; what was seen."""
        plan, sums = self._plan, self._sums
        sums.fade(math.exp(-plan.block_games / plan.memory))
        # games over the same walls are of one fold
        folds = torch.tensor([game.number // plan.replays % FOLDS for game in games])
        players = 4.0 if plan.seats == "all" else 1.0
        sums.add_seats(players * torch.bincount(folds, minlength=FOLDS))
        of_row = folds.repeat_interleave(torch.tensor([len(game.of(self._slot)) for game in games]))
        rewards = torch.from_numpy(lesson.rewards - lesson.rewards.mean()) if len(of_row) else torch.zeros(0)
        drew = self._changes[version_for(plan, block)]
        gains = [torch.zeros(0, dtype=torch.float64)]
        for rows in _pieces(len(of_row)):
            draws = self._draws(lesson.decisions[rows])
            gains.append(self._gains(draws, rewards[rows], drew))
            sums.add(draws._replace(scores=draws.scores + draws.rows @ drew), rewards[rows], of_row[rows])
        step = sums.step(self._layer.own, plan.size, plan.hold)
        noise = _ERRORS * step.gain_error
        sure = max(0.0, 1.0 - (noise / step.gain) ** 2) if step.gain > 0.0 else 0.0
        self._changes[block + 1] = self._changes[block] + sure * step.change
        self._forget(block + 1)
        moved, others = sums.movement(self._changes[block + 1])
        return {
            "loss": -step.gain,
            "step_gain": step.gain,
            "step_gain_error": step.gain_error,
            "step": sure * plan.size,
            "ridge": step.ridge,
            "moved": moved,
            "moved_others": others,
            "divergence": 0.5 * (moved / plan.temperature) ** 2,
            "entropy": sums.entropy,
            **gained(torch.cat(gains).numpy(), players * len(games)),
            "decisions": float(len(of_row)),
        }

    def moved(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights of the network after the last step."""
        return self._layer.moved(tensors, self._changes[max(self._changes)])

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        changes = {str(version): change for version, change in self._changes.items()}
        return {"sums": self._sums.state(), "changes": changes}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self._sums.restore(state["sums"])
        self._changes = {int(version): change for version, change in state["changes"].items()}

    def _forget(self, version: int) -> None:
        """Drop the changes of versions that played no block to come."""
        oldest = version_for(self._plan, version)
        self._changes = {number: change for number, change in self._changes.items() if number >= oldest}

    def _gains(self, draws: Draws, rewards: Tensor, drew: Tensor) -> Tensor:
        """``[B]``: what the policy that drew gained over that of the start."""
        start, after = (
            log_policy(scores, draws.drawn, self._plan.temperature).gather(1, draws.chosen[:, None])[:, 0]
            for scores in (draws.scores, draws.scores + draws.rows @ drew)
        )
        return (draws.weights * share_gained(after, start, self._plan.reject) * rewards).double()

    def _draws(self, decisions: NDArray[np.void]) -> Draws:
        weights = torch.from_numpy(decisions["weight"].astype(np.float32))
        if self._slot is Slot.DISCARD:
            scores, rows = self._look(decisions["state"], decisions["player"], None)
            legal, drawn = kinds_of(decisions["legal"]), kinds_of(decisions["drawn"])
            chosen = decisions["kind"].astype(np.int64)
        else:
            legal, drawn, chosen = options_of(decisions)
            asked = torch.from_numpy(legal[:, :-1])
            which = np.nonzero(legal[:, :-1])[0]
            calls = decisions["calls"][:, : asked.shape[1]][legal[:, :-1]]
            said, seen = self._look(decisions["state"][which], decisions["player"][which], calls)
            rows = seen.new_zeros(*legal.shape, seen.shape[1])
            rows[:, :-1][asked] = seen
            scores = functional.pad(said.new_zeros(asked.shape), (0, 1))
            scores[:, :-1][asked] = said
            scores[:, -1] = torch.from_numpy(decisions["others"].astype(np.float32))
        legal_, drawn_, chosen_ = (torch.from_numpy(each) for each in (legal, drawn, chosen))
        return Draws(rows, scores, legal_, drawn_, chosen_, weights)

    def _look(
        self, states: NDArray[np.void], players: NDArray[np.int8], calls: NDArray[np.int16] | None
    ) -> tuple[Tensor, Tensor]:
        planes = self._model.planes(states, players, calls, self._plan.length)
        return self._layer.look(torch.from_numpy(planes))


def _pieces(size: int) -> Iterator[slice]:
    return (slice(at, at + _ROWS) for at in range(0, size, _ROWS))
