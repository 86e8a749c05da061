"""Improves one of the models that answer yes or no with one block of games at a time.

The score of a call is ``yes - no``. A decision is drawn from the softmax of the scores of all calls that were
possible and of none of them; what other models said of the same claim is held as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.errors import ConfigError
from learning.reinforcement.lessons import PlayLesson
from learning.reinforcement.model_learner import ModelLearner
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.policy_learner import MEASURED, gained
from policies.checkpoint import Card
from policies.device import choose_compute
from policies.gradient import PolicyBatch, log_policy, scores_of_answers
from policies.inference import Model
from policies.networks import Network, as_input
from policies.slots import Slot
from policies.towers.residual import YES_NO
from policies.trajectories import options_of


class AnswerLearner:
    """The model of one slot, and how it learns.

    Args:
        slot: riichi, chi, pon or kan.
        plan: of the run.
        network: that of the start.
        card: its card.
        threads: that share a batch on a CPU.

    Raises:
        ConfigError: the network does not answer yes or no.
    """

    def __init__(
        self, slot: Slot, plan: ReinforcementPlan, network: Network, card: Card, threads: int
    ) -> None:
        if network.architecture.outputs != YES_NO:
            raise ConfigError(f"the {slot} model of the start cannot learn: it does not answer yes or no")
        self.plan = plan
        self._begun = Model(network, str(card.features), card.without, choose_compute("auto", plan.precision))
        self.model = ModelLearner(
            plan,
            network,
            self._begun.features,
            card.without,
            threads,
            start=self._log_start,
            ask=scores_of_answers,
        )

    def close(self) -> None:
        """Stop the threads."""
        self.model.close()

    def learn(self, lesson: PlayLesson, advantages: NDArray[np.float32], block: int) -> dict[str, float]:
        """Learn from a block.

        Args:
            lesson: its decisions, `policies.trajectories.ANSWER` of this slot.
            advantages: ``[N]``.
            block: its number, which determines their order.

        Returns:
            What was seen, by name; nothing if the model was not asked.
        """
        plan, answers = self.plan, lesson.decisions
        if not len(answers):
            return {}
        worth, gains = lesson.rewards - lesson.rewards.mean(), np.zeros(len(answers))
        order = np.random.default_rng((plan.seed, block, 2)).permutation(len(answers))
        for part, rows in enumerate(np.array_split(order, plan.steps)):
            if len(rows):
                batch = self.model.beside_start(self._batch(answers[rows], advantages[rows]))
                gains[rows] = self.model.gains(batch, worth[rows])
                self.model.step(batch, block, block * plan.steps + part)
        some = order[:MEASURED]
        seen = self.model.end_block(self._batch(answers[some], advantages[some]))
        return {**seen, **gained(gains, lesson.seats), "decisions": float(len(answers))}

    def acting(self) -> dict[str, Tensor]:
        """The weights that actors play with: those of the last step."""
        return self.model.learner.weights(averaged=False)

    def normal(self) -> dict[str, Tensor]:
        """The averaged weights."""
        return self.model.learner.weights()

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return self.model.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.model.restore(state)

    def _batch(self, answers: NDArray[np.void], advantages: NDArray[np.float32]) -> PolicyBatch:
        legal, drawn, chosen = options_of(answers)
        asked = legal[:, :-1]
        rows = np.nonzero(asked)[0]
        shown = self._begun.planes(
            answers["state"][rows],
            answers["player"][rows],
            answers["calls"][:, : asked.shape[1]][asked],
            self.plan.length,
        )
        planes = np.zeros((*asked.shape, *shown.shape[1:]), np.uint8)
        planes[asked] = shown
        return PolicyBatch(
            planes=torch.from_numpy(planes),
            legal=torch.from_numpy(legal),
            chosen=torch.from_numpy(chosen),
            behaviour=torch.from_numpy(np.log(answers["probability"])),
            advantages=torch.from_numpy(advantages),
            weights=torch.from_numpy(answers["weight"].astype(np.float32)),
            drawn=torch.from_numpy(drawn),
            others=torch.from_numpy(answers["others"].astype(np.float32)),
        )

    @torch.no_grad()
    def _log_start(self, batch: PolicyBatch) -> Tensor:
        """Log-probabilities of the policy of the start."""
        scores = scores_of_answers(self._begun.network, as_input(batch.planes), batch)
        return log_policy(scores, batch.legal, self.plan.temperature)
