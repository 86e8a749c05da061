"""The gradient steps of one model that learns from play, whatever it decides.

Source: Suphx, arXiv:2003.13590, section 3.1.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.settings import ROWS_LEARNED, LearnerSettings
from learning.runs.learner import Learner, scores_of_planes
from policies.gradient import (
    EntropyControl,
    PolicyBatch,
    PolicyFigures,
    PolicyObjective,
    learn_last,
    log_among,
    policy_loss,
    share_gained,
)
from policies.networks import Network


class ModelLearner:
    """One network, its optimiser, and the weight of its entropy.

    Args:
        plan: of the run.
        network: that of the start.
        features: feature set of its planes.
        without: groups of the set that are left blank.
        threads: that share a batch on a CPU.
        start: log-probabilities ``[B, K]`` of the policy of the start.
        ask: the network's scores ``[B, K]``; by default of the planes alone.

    Attributes:
        learner: takes the steps.
        entropy: weight and target of the entropy.
    """

    def __init__(
        self,
        plan: ReinforcementPlan,
        network: Network,
        features: str,
        without: tuple[str, ...],
        threads: int,
        *,
        start: Callable[[PolicyBatch], Tensor],
        ask: Callable[[nn.Module, Tensor, PolicyBatch], Tensor] = scores_of_planes,
    ) -> None:
        self._plan, self._start = plan, start
        settings = LearnerSettings(
            features=features,
            without=without,
            weight_decay=plan.weight_decay,
            averaging=plan.averaging,
            seed=plan.seed,
            precision=plan.precision,
        )
        network = copy.deepcopy(network)
        learn_last(network, plan.last_blocks)
        self.learner: Learner[PolicyBatch] = Learner(
            network,
            settings,
            threads,
            loss=self._loss,
            ask=ask,
            frozen=True,
            rows=ROWS_LEARNED,
        )
        # noise does not wear down the entropy of a policy that learns from values of all options
        entropy_step = plan.entropy_step if plan.credit == "reward" else 0.0
        self.entropy = EntropyControl(target=plan.entropy or 0.0, step=entropy_step)
        self._objective = PolicyObjective(
            clip=plan.clip,
            reject=plan.reject,
            anchor=plan.anchor,
            hold=plan.hold,
            temperature=plan.temperature,
        )
        self._figures = PolicyFigures()
        self._losses: list[float] = []

    def close(self) -> None:
        """Stop the threads."""
        self.learner.close()

    def beside_start(self, batch: PolicyBatch) -> PolicyBatch:
        """The batch with what the policy of the start says of it, if the policy is to stay near that."""
        if self._objective.anchor or self._objective.hold:
            return batch._replace(start=self._start(batch))
        return batch

    def gains(self, batch: PolicyBatch, rewards: NDArray[np.float32]) -> NDArray[np.float64]:
        """``[B]``: what the policy that drew gained over that of the start; zeros if that is not known.

        Args:
            batch: decisions, from `beside_start`.
            rewards: ``[B]``, what came of them.
        """
        if batch.start is None:
            return np.zeros(len(rewards))
        assert batch.drawn is not None
        start = log_among(batch.drawn, batch.start).gather(1, batch.chosen[:, None])[:, 0]
        share = share_gained(batch.behaviour, start, self._plan.reject)
        return np.asarray((batch.weights * share).double().numpy() * rewards, np.float64)

    def step(self, batch: PolicyBatch, block: int, number: int) -> None:
        """Learn from part of a block.

        Args:
            batch: its decisions, from `beside_start`.
            block: number of the block.
            number: of the step, counted over all blocks.
        """
        self._losses.append(self.learner.step(batch, number, self._plan.rate(block, number)))

    def end_block(self, some: PolicyBatch) -> dict[str, float]:
        """Let the weight of the entropy follow what the steps of a block showed.

        Args:
            some: decisions on which the divergence from the start is measured.

        Returns:
            What the steps showed, by name; without a step only divergence and entropy.
        """
        divergence, entropy = self._measure(some)
        if not self._losses:  # only the critic learned
            return {"loss": 0.0, "divergence": divergence, "entropy": entropy}
        seen, loss = self._figures.means(), sum(self._losses) / len(self._losses)
        self._figures, self._losses = PolicyFigures(), []
        if self._plan.entropy is None and not self.entropy.target:
            self.entropy.target = seen["entropy"]
        self.entropy.follow(seen["entropy"])
        return {
            **seen,
            "loss": loss,
            "entropy_target": self.entropy.target,
            "alpha": self.entropy.alpha,
            "divergence": divergence,
        }

    def gradient(self, batch: PolicyBatch) -> Tensor:
        """``[P]``: the gradient of the loss at the weights as they are."""
        return self.learner.gradient(batch)

    def entropy_gradient(self, batch: PolicyBatch) -> Tensor:
        """``[P]``, of unit length: the direction in which the entropy of the policy rises fastest."""
        held, self.entropy.alpha = self.entropy.alpha, 1.0
        try:
            found = self.gradient(batch._replace(advantages=torch.zeros_like(batch.advantages)))
        finally:
            self.entropy.alpha = held
        return functional.normalize(-found, dim=0)

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {"policy": self.learner.state(), "entropy": msgspec.to_builtins(self.entropy)}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.learner.restore(state["policy"])
        self.entropy = msgspec.convert(state["entropy"], EntropyControl)

    def _loss(self, scores: Tensor, batch: PolicyBatch) -> Tensor:
        loss, measures = policy_loss(scores, batch, self._objective, self.entropy.alpha)
        self._figures.add(measures)
        return loss

    @torch.no_grad()
    def _measure(self, batch: PolicyBatch) -> tuple[float, float]:
        """Mean KL(π ‖ π₀) and entropy in nats over some decisions, of the averaged weights."""
        batch = batch._replace(start=self._start(batch))
        _, measures = policy_loss(self.learner.scores(batch).cpu(), batch, self._objective, 0.0)
        share = batch.weights / batch.weights.sum()
        return float((measures.divergences * share).sum()), float((measures.entropies * share).sum())
