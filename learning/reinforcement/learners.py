"""All models that learn in a run: the discard model with its critic, and any of the other four."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from learning.reinforcement.answer_learner import AnswerLearner
from learning.reinforcement.beginning import load_starting
from learning.reinforcement.lessons import lesson_of
from learning.reinforcement.parameters import pack_models
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.policy_learner import PolicyLearner
from policies.slots import Slot
from policies.trajectories import Trajectory


class Learners:
    """What learns from a block of games, and what actors get of it.

    Args:
        plan: of the run.
        start: folder of the checkpoints to start from.
        threads: that share a batch on a CPU.

    Attributes:
        begun: the models of the start.

    Raises:
        CheckpointError: one cannot be used.
        ConfigError: a model of the plan cannot learn.
    """

    def __init__(self, plan: ReinforcementPlan, start: Path, threads: int) -> None:
        self.begun = {slot: load_starting(start, slot) for slot in plan.slots}
        card, network = self.begun[Slot.DISCARD]
        self.discard = PolicyLearner(plan, network, card, threads)
        self.others: dict[Slot, AnswerLearner] = {
            slot: AnswerLearner(slot, plan, begun.network, begun.card, threads)
            for slot, begun in self.begun.items()
            if slot is not Slot.DISCARD
        }

    def close(self) -> None:
        """Stop the threads."""
        for learner in self._all().values():
            learner.close()

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
        discards = lesson_of(games, rewards)
        # some players had nothing to answer, but their games count for the gain of a game
        lessons = {
            slot: lesson_of(games, rewards, slot)._replace(seats=discards.seats) for slot in self.others
        }
        # a critic that has seen the rewards of these games would explain them away
        advantages = {slot: self.discard.judge(lesson) for slot, lesson in lessons.items()}
        seen = self.discard.learn(discards, block)
        found = {f"policy/{name}": value for name, value in seen.items()}
        for slot, learner in self.others.items():
            figures = learner.learn(lessons[slot], advantages[slot], block)
            found |= {f"{slot}/{name}": value for name, value in figures.items()}
        return found

    def acting(self) -> bytes:
        """The weights that actors play with: those of the last step."""
        return pack_models({slot: learner.acting() for slot, learner in self._all().items()})

    def normal(self) -> Mapping[Slot, Mapping[str, Tensor]]:
        """The averaged weights, as a policy plays with them in earnest."""
        return {slot: learner.normal() for slot, learner in self._all().items()}

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        others = {slot.value: learner.state() for slot, learner in self.others.items()}
        return {**self.discard.state(), "others": others}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.discard.restore(state)
        for slot, learner in self.others.items():
            learner.restore(state["others"][slot.value])

    def _all(self) -> Mapping[Slot, PolicyLearner | AnswerLearner]:
        return {Slot.DISCARD: self.discard, **self.others}
