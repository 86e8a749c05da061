"""Improves the discard policy with one block of games at a time.

Source: Suphx, arXiv:2003.13590, sections 3.1 and 3.2.
"""

from __future__ import annotations

import copy
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
from policies.features.table import GUIDED, looks_deep
from policies.gradient import (
    EntropyControl,
    PolicyBatch,
    PolicyFigures,
    PolicyObjective,
    log_policy,
    policy_loss,
)
from policies.guidance import drop_hidden, guided_network, without_hidden
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
        walls: ``[N, 136]`` int16, of their rounds.
    """

    decisions: NDArray[np.void]
    rewards: NDArray[np.float32]
    walls: NDArray[np.int16]

    def some(self, rows: NDArray[np.int64] | slice) -> PlayLesson:
        """Some of the decisions."""
        return PlayLesson(self.decisions[rows], self.rewards[rows], self.walls[rows])


def lesson_of(games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]]) -> PlayLesson:
    """The decisions of games, each with the reward ``[T, 4]`` of its round."""
    decisions = np.concatenate([game.decisions for game in games])
    found = [
        rows[game.decisions["round"], game.decisions["player"]]
        for game, rows in zip(games, rewards, strict=True)
    ]
    walls = np.concatenate([game.walls[game.decisions["round"]] for game in games])
    return PlayLesson(decisions, np.concatenate(found).astype(np.float32), walls)


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
        self._without = card.without
        self._deep = looks_deep(str(card.features), self._without)
        self._start = Model(network, str(card.features), self._without, Compute(rows=32))
        self._seen = network.architecture.planes
        self._features = GUIDED if plan.guided else self._start.features
        self._gamma = plan.gamma(0)
        settings = LearnerSettings(
            features=self._features,
            without=self._without,
            weight_decay=plan.weight_decay,
            averaging=plan.averaging,
            seed=plan.seed,
            precision=plan.precision,
        )
        self.learner: Learner[PolicyBatch] = Learner(
            guided_network(network) if plan.guided else copy.deepcopy(network),
            settings,
            threads,
            loss=self._loss,
            frozen=True,
            rows=ROWS_LEARNED,
        )
        self.critic = (
            Critic(
                GUIDED if plan.baseline == "oracle" else self._start.features,
                width=plan.critic_width,
                depth=plan.critic_depth,
                seed=plan.seed,
                threads=threads,
            )
            if plan.baseline != "none"
            else None
        )
        self._entropy = EntropyControl(target=plan.entropy or 0.0, step=plan.entropy_step)
        self._objective = PolicyObjective(
            clip=plan.clip, reject=plan.reject, anchor=plan.anchor, temperature=plan.temperature
        )
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
        plan = self.plan
        self._gamma = plan.gamma(block)
        lesson, deviation = self._in_deviations(lesson)
        advantages, explained = self._advantages(lesson)
        order = np.random.default_rng((plan.seed, block, 2)).permutation(len(advantages))
        self._figures = PolicyFigures()
        loss = 0.0
        for part, rows in enumerate(np.array_split(order, plan.steps)):
            loss += self._step(lesson.some(rows), advantages[rows], block, block * plan.steps + part)
        seen = self._figures.means()
        if plan.entropy is None and not self._entropy.target:
            self._entropy.target = seen["entropy"]
        self._entropy.follow(seen["entropy"])
        return {
            **seen,
            "loss": loss / plan.steps,
            "entropy_target": self._entropy.target,
            "alpha": self._entropy.alpha,
            "gamma": self._gamma if plan.guided else 0.0,
            "reward_deviation": deviation,
            "explained": explained,
            "divergence": self._divergence(lesson.some(order[:_MEASURED])),
            "decisions": float(len(advantages)),
        }

    def _step(self, lesson: PlayLesson, advantages: NDArray[np.float32], block: int, number: int) -> float:
        """Learn from part of a block; return the loss."""
        batch = self._batch(lesson, advantages)
        loss = self.learner.step(batch, number, self.plan.rate(block, number))
        self._teach_critic(lesson, number, batch.planes)
        return loss

    def teach_critic(self, lesson: PlayLesson, rows: int) -> None:
        """Teach the critic alone, in one pass, so that it can be asked about other games.

        Args:
            lesson: what to learn from.
            rows: decisions in a step.
        """
        lesson, _ = self._in_deviations(lesson)
        order = np.random.default_rng((self.plan.seed, 3)).permutation(len(lesson.rewards))
        for number, some in enumerate(np.array_split(order, max(1, len(order) // rows))):
            self._teach_critic(lesson.some(some), number)

    def gradients(self, lessons: Sequence[PlayLesson]) -> tuple[Tensor, float]:
        """The gradient of the weights as they are, for each of several groups of decisions.

        Returns:
            ``[G, P]``, and the share of the variance of all rewards that the critic explains.
        """
        scaled = [self._in_deviations(lesson)[0] for lesson in lessons]
        found = [self._advantages(lesson) for lesson in scaled]
        gradients = [
            self.learner.gradient(self._batch(lesson, advantages))
            for lesson, (advantages, _) in zip(scaled, found, strict=True)
        ]
        return torch.stack(gradients), float(np.mean([explained for _, explained in found]))

    def entropy_gradient(self, lesson: PlayLesson) -> Tensor:
        """``[P]``, of unit length: the direction in which the entropy of the policy rises fastest."""
        held, self._entropy.alpha = self._entropy.alpha, 1.0
        try:
            found = -self.learner.gradient(self._batch(lesson, np.zeros(len(lesson.rewards), np.float32)))
        finally:
            self._entropy.alpha = held
        return found / found.norm()

    def _teach_critic(self, lesson: PlayLesson, number: int, shown: Tensor | None = None) -> None:
        """One step of the critic; ``shown`` is what the policy was shown, which need not be encoded again."""
        if self.critic is not None:
            same = self.critic.features == self._features and not self.plan.guided
            planes = shown if same and shown is not None else self._critic_planes(lesson)
            weights = torch.from_numpy(lesson.decisions["weight"].astype(np.float32))
            batch = CriticBatch(planes, torch.from_numpy(lesson.rewards), weights)
            self.critic.learn(batch, number, self.plan.critic_rate)

    def _in_deviations(self, lesson: PlayLesson) -> tuple[PlayLesson, float]:
        """The same with rewards in units of their standard deviation over recent blocks, and that of this."""
        deviation = _deviation(lesson.rewards, lesson.decisions["weight"])
        self._scale = deviation if not self._scale else 0.9 * self._scale + 0.1 * deviation
        return lesson._replace(rewards=lesson.rewards / max(self._scale, 1e-6)), deviation

    def _advantages(self, lesson: PlayLesson) -> tuple[NDArray[np.float32], float]:
        """Rewards less what the critic expected, of standard deviation 1, and the share that it explains."""
        weights = lesson.decisions["weight"]
        surprise = lesson.rewards - self._expect(lesson)
        deviation = max(_deviation(surprise, weights), 1e-6)
        explained = 1.0 - (deviation / max(_deviation(lesson.rewards, weights), 1e-6)) ** 2
        return surprise / np.float32(deviation), explained

    def acting(self) -> dict[str, Tensor]:
        """The weights that actors play with: those of the last step."""
        return self.learner.weights(averaged=False)

    def normal(self) -> dict[str, Tensor]:
        """The averaged weights of the discard model, without those for what is hidden."""
        weights = self.learner.weights()
        return without_hidden(weights) if self.plan.guided else weights

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

    def _planes(self, lesson: PlayLesson, features: str) -> Tensor:
        decisions = lesson.decisions
        planes = encode(
            decisions["state"],
            decisions["player"],
            features,
            walls=lesson.walls if features == GUIDED else None,
            deep=self._deep,
            last_round=LAST_ROUND[self.plan.length],
            threads=self.learner.threads,
        )
        return torch.from_numpy(planes)

    def _policy_planes(self, lesson: PlayLesson) -> Tensor:
        """What the policy was shown."""
        planes = self._planes(lesson, self._features)
        if self.plan.guided:
            drop_hidden(planes.numpy(), lesson.decisions["hidden_seed"], self._gamma)
        return planes

    def _critic_planes(self, lesson: PlayLesson) -> Tensor:
        assert self.critic is not None
        return self._planes(lesson, self.critic.features)

    def _batch(self, lesson: PlayLesson, advantages: NDArray[np.float32]) -> PolicyBatch:
        decisions, planes = lesson.decisions, self._policy_planes(lesson)
        legal = torch.from_numpy(kinds_of(decisions["legal"]))
        return PolicyBatch(
            planes=planes,
            legal=legal,
            kinds=torch.from_numpy(decisions["kind"].astype(np.int64)),
            behaviour=torch.from_numpy(np.log(decisions["probability"])),
            advantages=torch.from_numpy(advantages),
            weights=torch.from_numpy(decisions["weight"].astype(np.float32)),
            start=self._log_start(planes, legal) if self._objective.anchor else None,
        )

    def _log_start(self, planes: Tensor, legal: Tensor) -> Tensor:
        """Log-probabilities of the policy of the start."""
        seen = np.ascontiguousarray(planes[:, : self._seen].numpy())
        return log_policy(torch.from_numpy(self._start.scores(seen)), legal, self.plan.temperature)

    def _expect(self, lesson: PlayLesson) -> NDArray[np.float32]:
        """``[N]`` what the critic expects; zeros without one."""
        expected = np.zeros(len(lesson.rewards), np.float32)
        if self.critic is not None:
            for at in range(0, len(expected), _ROWS):
                rows = slice(at, at + _ROWS)
                expected[rows] = self.critic.expect(self._critic_planes(lesson.some(rows)))
        return expected

    @torch.no_grad()
    def _divergence(self, lesson: PlayLesson) -> float:
        """Mean KL(π ‖ π₀) in nats over some decisions, of the averaged weights."""
        batch = self._batch(lesson, np.zeros(len(lesson.rewards), np.float32))
        batch = batch._replace(start=self._log_start(batch.planes, batch.legal))
        _, measures = policy_loss(self.learner.scores(batch).cpu(), batch, self._objective, 0.0)
        return float((measures.divergences * batch.weights).sum() / batch.weights.sum())


def _deviation(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """Weighted standard deviation."""
    mean = np.average(values, weights=weights)
    return math.sqrt(np.average((values - mean) ** 2, weights=weights))
