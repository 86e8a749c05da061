"""Improves the discard policy with one block of games at a time.

Source: Suphx, arXiv:2003.13590, sections 3.1 and 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.settlement import LAST_ROUND
from learning.reinforcement.critic import Critic, CriticBatch
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.settings import ROWS_LEARNED, LearnerSettings
from learning.runs.learner import Learner
from policies.checkpoint import Card
from policies.compute import Compute
from policies.features.encode import encode
from policies.features.kinds import kinds_of
from policies.features.table import looks_deep
from policies.gradient import (
    EntropyControl,
    PolicyBatch,
    PolicyFigures,
    PolicyObjective,
    log_policy,
    policy_loss,
)
from policies.inference import Model
from policies.networks import Network
from policies.trajectories import Trajectory

_ROWS: Final = 2_048
"""Decisions whose planes are in memory at once where the whole block is looked at."""
_MEASURED: Final = 1_024
"""Decisions of a block on which the divergence from the start is measured."""


class PlayLesson(NamedTuple):
    """The decisions of a block, with what came of them.

    Attributes:
        decisions: ``[N]`` of `policies.trajectories.DECISION`.
        rewards: ``[N]`` float32, of their rounds.
    """

    decisions: NDArray[np.void]
    rewards: NDArray[np.float32]


def lesson_of(games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]]) -> PlayLesson:
    """The decisions of games, each with the reward ``[T, 4]`` of its round."""
    decisions = np.concatenate([game.decisions for game in games])
    found = [
        rows[game.decisions["round"], game.decisions["player"]]
        for game, rows in zip(games, rewards, strict=True)
    ]
    return PlayLesson(decisions, np.concatenate(found).astype(np.float32))


class PolicyLearner:
    """The discard network, the critic, the weight of the entropy, and how they learn.

    Args:
        plan: of the run.
        network: the discard network of the start.
        card: its card.
        threads: that share a batch on a CPU.
    """

    def __init__(self, plan: ReinforcementPlan, network: Network, card: Card, threads: int) -> None:
        self.plan = plan
        self._features, self._without = str(card.features), card.without
        self._deep = looks_deep(self._features, self._without)
        self._start = Model(network, self._features, self._without, Compute(rows=32))
        settings = LearnerSettings(
            features=self._features,
            without=self._without,
            weight_decay=plan.weight_decay,
            averaging=plan.averaging,
            seed=plan.seed,
            precision=plan.precision,
        )
        self.learner: Learner[PolicyBatch] = Learner(
            network, settings, threads, loss=self._loss, frozen=True, rows=ROWS_LEARNED
        )
        self.critic = (
            Critic(
                self._features,
                width=plan.critic_width,
                depth=plan.critic_depth,
                seed=plan.seed,
                threads=threads,
            )
            if plan.baseline == "critic"
            else None
        )
        self._entropy = EntropyControl(target=plan.entropy or 0.0, step=plan.entropy_step)
        self._objective = PolicyObjective(clip=plan.clip, reject=plan.reject, anchor=plan.anchor)
        self._figures = PolicyFigures()
        self._scale = 0.0  # standard deviation of the rewards

    def close(self) -> None:
        """Stop the threads."""
        self.learner.close()
        if self.critic is not None:
            self.critic.close()

    def learn(self, lesson: PlayLesson, block: int) -> dict[str, float]:
        """Learn from a block.

        Args:
            lesson: its decisions.
            block: its number, which determines their order.

        Returns:
            What was seen, by name.
        """
        plan, decisions = self.plan, lesson.decisions
        weights = decisions["weight"].astype(np.float32)
        deviation = _deviation(lesson.rewards, weights)
        self._scale = deviation if not self._scale else 0.9 * self._scale + 0.1 * deviation
        rewards = lesson.rewards / max(self._scale, 1e-6)
        expected = self._expect(decisions)
        advantages = rewards - expected
        advantages /= max(_deviation(advantages, weights), 1e-6)
        order = np.random.default_rng((plan.seed, block, 2)).permutation(len(decisions))
        self._figures = PolicyFigures()
        loss = 0.0
        for part, rows in enumerate(np.array_split(order, plan.steps)):
            number = block * plan.steps + part
            batch = self._batch(decisions[rows], advantages[rows])
            loss += self.learner.step(batch, number, self._rate(number)) / plan.steps
            if self.critic is not None:
                taught = CriticBatch(batch.planes, torch.from_numpy(rewards[rows]), batch.weights)
                self.critic.learn(taught, number, plan.critic_rate)
        seen = self._figures.means()
        if plan.entropy is None and not self._entropy.target:
            self._entropy.target = seen["entropy"]
        self._entropy.follow(seen["entropy"])
        explained = 1.0 - _square(rewards - expected, weights) / max(_square(rewards, weights), 1e-12)
        return {
            **seen,
            "loss": loss,
            "entropy_target": self._entropy.target,
            "alpha": self._entropy.alpha,
            "reward_deviation": deviation,
            "explained": explained,
            "divergence": self._divergence(decisions[order[:_MEASURED]]),
            "decisions": float(len(decisions)),
        }

    def weights(self, *, averaged: bool) -> dict[str, Tensor]:
        """The weights of the discard model; see `learning.runs.learner.Learner.weights`."""
        return self.learner.weights(averaged=averaged)

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {
            "policy": self.learner.state(),
            "critic": None if self.critic is None else self.critic.state(),
            "entropy": msgspec.to_builtins(self._entropy),
            "scale": self._scale,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.learner.restore(state["policy"])
        if self.critic is not None:
            self.critic.restore(state["critic"])
        self._entropy = msgspec.convert(state["entropy"], EntropyControl)
        self._scale = state["scale"]

    def _loss(self, scores: Tensor, batch: PolicyBatch) -> Tensor:
        loss, measures = policy_loss(scores, batch, self._objective, self._entropy.alpha)
        self._figures.add(measures)
        return loss

    def _rate(self, step: int) -> float:
        """Learning rate of a step."""
        return self.plan.learning_rate * min(1.0, (step + 1) / max(1, self.plan.warm_up))

    def _planes(self, decisions: NDArray[np.void]) -> Tensor:
        planes = encode(
            decisions["state"],
            decisions["player"],
            self._features,
            deep=self._deep,
            last_round=LAST_ROUND[self.plan.length],
            threads=self.learner.threads,
        )
        return torch.from_numpy(planes)

    def _batch(self, decisions: NDArray[np.void], advantages: NDArray[np.float32]) -> PolicyBatch:
        planes, legal = self._planes(decisions), torch.from_numpy(kinds_of(decisions["legal"]))
        start = None
        if self._objective.anchor:
            start = log_policy(torch.from_numpy(self._start.scores(planes.numpy())), legal)
        return PolicyBatch(
            planes=planes,
            legal=legal,
            kinds=torch.from_numpy(decisions["kind"].astype(np.int64)),
            behaviour=torch.from_numpy(np.log(decisions["probability"])),
            advantages=torch.from_numpy(advantages),
            weights=torch.from_numpy(decisions["weight"].astype(np.float32)),
            start=start,
        )

    def _expect(self, decisions: NDArray[np.void]) -> NDArray[np.float32]:
        """``[N]`` what the critic expects; zeros without one."""
        expected = np.zeros(len(decisions), np.float32)
        if self.critic is not None:
            for at in range(0, len(decisions), _ROWS):
                rows = slice(at, at + _ROWS)
                expected[rows] = self.critic.expect(self._planes(decisions[rows]))
        return expected

    @torch.no_grad()
    def _divergence(self, decisions: NDArray[np.void]) -> float:
        """Mean KL(π ‖ π₀) in nats over some decisions."""
        planes, legal = self._planes(decisions), torch.from_numpy(kinds_of(decisions["legal"]))
        batch = self._batch(decisions, np.zeros(len(decisions), np.float32))
        start = log_policy(torch.from_numpy(self._start.scores(planes.numpy())), legal)
        now = log_policy(self.learner.scores(batch).cpu(), legal)
        apart = (now.exp() * (now - start).masked_fill(~legal, 0.0)).sum(1)
        return float((apart * batch.weights).sum() / batch.weights.sum())


def _deviation(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """Weighted standard deviation."""
    mean = np.average(values, weights=weights)
    return math.sqrt(np.average((values - mean) ** 2, weights=weights))


def _square(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """Weighted variance."""
    return _deviation(values, weights) ** 2
