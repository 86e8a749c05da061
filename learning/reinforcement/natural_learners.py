"""All models that learn by one step of the natural policy gradient: all games are played by the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from learning.reinforcement.beginning import load_starting
from learning.reinforcement.lessons import PlayLesson, lesson_of
from learning.reinforcement.natural_step import FOLDS, Drawn, DrawSums, Step
from learning.reinforcement.parameters import pack_models
from learning.reinforcement.plan import ReinforcementPlan
from policies.checkpoint import load
from policies.features.kinds import kinds_of
from policies.inference import Model
from policies.last_layer import LastLayer
from policies.slots import Slot
from policies.trajectories import Trajectory, options_of

_ROWS: Final = 512
"""Decisions whose layers are in memory at once."""


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
        self.begun = {slot: load_starting(start, slot) for slot in plan.slots}
        self._tensors = {slot: load(start, slot).tensors for slot in plan.slots}
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
            What was seen in all blocks so far: ``policy/…`` of discards, and ``riichi/…`` and so on of the
            others.
        """
        found: dict[str, float] = {}
        for slot, learner in self._learners.items():
            seen = learner.learn(games, lesson_of(games, rewards, slot))
            name = "policy" if slot is Slot.DISCARD else slot
            found |= {f"{name}/{figure}": value for figure, value in seen.items()}
        return found

    def acting(self) -> bytes:
        """The weights that actors play with: those of the start."""
        return pack_models(self._tensors)

    def normal(self) -> Mapping[Slot, Mapping[str, Tensor]]:
        """The weights after the step."""
        return {slot: learner.moved(self._tensors[slot]) for slot, learner in self._learners.items()}

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {slot.value: learner.sums.state() for slot, learner in self._learners.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        for slot, learner in self._learners.items():
            learner.sums.restore(state[slot.value])


class _NaturalLearner:
    """The last layer of one model."""

    def __init__(self, slot: Slot, plan: ReinforcementPlan, model: Model) -> None:
        self._slot, self._plan, self._model = slot, plan, model
        self._layer = LastLayer(model.network)
        self.sums = DrawSums(self._layer.own, plan.temperature)

    def learn(self, games: Sequence[Trajectory], lesson: PlayLesson) -> dict[str, float]:
        """Add a block to the sums; what they tell."""
        # games over the same walls are of one fold
        folds = torch.tensor([game.number // self._plan.replays % FOLDS for game in games])
        players = 4.0 if self._plan.seats == "all" else 1.0
        self.sums.add_seats(players * torch.bincount(folds, minlength=FOLDS))
        of_row = folds.repeat_interleave(torch.tensor([len(game.of(self._slot)) for game in games]))
        rewards = torch.from_numpy(lesson.rewards - lesson.rewards.mean()) if len(of_row) else torch.zeros(0)
        for rows in _pieces(len(of_row)):
            self.sums.add(self._drawn(lesson.decisions[rows], rewards[rows], of_row[rows]))
        step = self._step()
        moved, others = self.sums.movement(step.change)
        return {
            "loss": -step.gain,
            "gain": step.gain,
            "gain_error": step.gain_error,
            "ridge": step.ridge,
            "moved": moved,
            "moved_others": others,
            "divergence": 0.5 * (moved / self._plan.temperature) ** 2,
            "entropy": self.sums.entropy,
            "explained": 0.0,
            "decisions": float(len(of_row)),
        }

    def _step(self) -> Step:
        return self.sums.step(self._plan.size, self._plan.hold)

    def moved(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights of the network after the best step so far."""
        return self._layer.moved(tensors, self._step().change)

    def _drawn(self, decisions: NDArray[np.void], rewards: Tensor, folds: Tensor) -> Drawn:
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
        return Drawn(
            rows,
            scores,
            torch.from_numpy(legal),
            torch.from_numpy(drawn),
            torch.from_numpy(chosen),
            weights,
            rewards,
            folds,
        )

    def _look(
        self, states: NDArray[np.void], players: NDArray[np.int8], calls: NDArray[np.int16] | None
    ) -> tuple[Tensor, Tensor]:
        planes = self._model.planes(states, players, calls, self._plan.length)
        return self._layer.look(torch.from_numpy(planes))


def _pieces(size: int) -> Iterator[slice]:
    return (slice(at, at + _ROWS) for at in range(0, size, _ROWS))
