"""Improves the discard model with one block of games at a time, and judges what its rounds were worth.

Source: Suphx, arXiv:2003.13590, sections 3.1 and 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.settlement import LAST_ROUND
from learning.reinforcement.afterstate_critic import AfterstateCritic
from learning.reinforcement.critic import Critic, CriticBatch
from learning.reinforcement.lessons import PlayLesson, log_draws
from learning.reinforcement.model_learner import ModelLearner
from learning.reinforcement.plan import ReinforcementPlan
from policies.checkpoint import Card
from policies.device import choose_compute
from policies.features.encode import encode
from policies.features.kinds import kinds_of
from policies.features.table import GUIDED, looks_deep
from policies.gradient import PolicyBatch, log_policy
from policies.guidance import drop_hidden, guided_network, without_hidden
from policies.inference import Model
from policies.networks import Network

_ROWS: Final = 2_048
"""Decisions whose planes are in memory at once where the whole block is looked at."""
MEASURED: Final = 1_024
"""Decisions of a block on which the divergence from the start is measured."""


def traced(
    rewards: NDArray[np.float32], expected: NDArray[np.float32], paths: NDArray[np.int64], trace: float
) -> NDArray[np.float32]:
    """What each decision brought: generalised advantage estimation.

    From one decision of a player to his next, what can be expected changes by luck and by what he did; the
    last change is from his last decision to the reward. A decision is credited with the change that follows
    it, with ``trace`` times the next one, and so on.

    Source: Schulman et al., arXiv:1506.02438, equation 16.

    Args:
        rewards: ``[N]``.
        expected: ``[N]`` by the critic.
        paths: ``[N]``, as in `PlayLesson`.
        trace: λ. 1 credits a decision with all that came, ``rewards - expected``.

    >>> rewards, expected = np.full(3, 8.0), np.array([1.0, 2.0, 4.0])
    >>> [traced(rewards, expected, np.zeros(3, np.int64), trace).tolist() for trace in (0.0, 0.5, 1.0)]
    [[1.0, 2.0, 4.0], [3.0, 4.0, 4.0], [7.0, 6.0, 4.0]]
    """
    if trace == 1.0:
        return rewards - expected
    found = np.empty_like(rewards)
    # by path: what was expected at the decision after, and its credit
    after: dict[int, tuple[float, float]] = {}
    for place in range(len(rewards) - 1, -1, -1):
        path, value = int(paths[place]), float(expected[place])
        next_value, credit = after.get(path, (float(rewards[place]), 0.0))
        credit = next_value - value + trace * credit
        after[path] = value, credit
        found[place] = credit
    return found


class PolicyLearner:
    """The discard model and the critic, and how they learn.

    Args:
        plan: of the run.
        network: the discard network of the start.
        card: its card.
        threads: that share a batch on a CPU.

    Attributes:
        model: the discard model.
        critic: what is expected of a round; None without a baseline.
        afterstates: what is expected after a discard; None if rewards are credited.
    """

    def __init__(self, plan: ReinforcementPlan, network: Network, card: Card, threads: int) -> None:
        self.plan = plan
        self._without = card.without
        self._deep = looks_deep(str(card.features), self._without)
        compute = choose_compute("auto", plan.precision)
        self._start = Model(network, str(card.features), self._without, compute)
        self._seen = network.architecture.planes
        self._features = GUIDED if plan.guided else self._start.features
        self._gamma = plan.gamma(0)
        self.model = ModelLearner(
            plan,
            guided_network(network) if plan.guided else network,
            self._features,
            self._without,
            threads,
            start=self._log_start,
        )
        self.critic = (
            Critic(
                GUIDED if plan.baseline == "oracle" else self._start.features,
                width=plan.critic_width,
                depth=plan.critic_depth,
                seed=plan.seed,
                threads=threads,
            )
            if plan.baseline != "none" and plan.credit == "reward"
            else None
        )
        self.afterstates = (
            AfterstateCritic(network, str(card.features), self._without, plan, threads)
            if plan.credit == "afterstates"
            else None
        )
        self._scale = 0.0  # standard deviation of the rewards

    def close(self) -> None:
        """Stop the threads."""
        self.model.close()
        for critic in (self.critic, self.afterstates):
            if critic is not None:
                critic.close()

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
        if self.afterstates is not None:
            return self._learn_afterstates(lesson, deviation, block)
        advantages, explained = self._advantages(lesson)
        worth = self._scale * (lesson.rewards - lesson.rewards.mean())
        order = np.random.default_rng((plan.seed, block, 2)).permutation(len(advantages))
        gains = np.zeros(len(order))
        for part, rows in enumerate(np.array_split(order, plan.steps)):
            batch, number = self._batch(lesson.some(rows), advantages[rows]), block * plan.steps + part
            batch = self.model.beside_start(batch)
            gains[rows] = self.model.gains(batch, worth[rows])
            self.model.step(batch, block, number)
            self._teach_critic(lesson.some(rows), number, batch.planes)
        measured = order[:MEASURED]
        return {
            **self.model.end_block(self._batch(lesson.some(measured), advantages[measured])),
            "gamma": self._gamma if plan.guided else 0.0,
            "reward_deviation": deviation,
            "explained": explained,
            **gained(gains, lesson.seats),
            "decisions": float(len(advantages)),
        }

    def _learn_afterstates(self, lesson: PlayLesson, deviation: float, block: int) -> dict[str, float]:
        """The same where a critic credits afterstates; it learns from a block after the policy."""
        assert self.afterstates is not None
        plan, size = self.plan, len(lesson.rewards)
        worth = self._scale * (lesson.rewards - lesson.rewards.mean())
        order = np.random.default_rng((plan.seed, block, 2)).permutation(size)
        gains = np.zeros(size)
        if plan.learns(block):
            for part, rows in enumerate(np.array_split(order, plan.steps)):
                some = lesson.some(rows)
                batch = self.model.beside_start(self._batch(some, np.zeros(len(rows), np.float32)))
                gains[rows] = self.model.gains(batch, worth[rows])
                batch = batch._replace(values=torch.from_numpy(self.afterstates.compare(some)))
                self.model.step(batch, block, block * plan.steps + part)
        explained = self.afterstates.learn(lesson.some(order))
        measured = order[:MEASURED]
        return {
            **self.model.end_block(self._batch(lesson.some(measured), np.zeros(len(measured), np.float32))),
            "gamma": 0.0,
            "reward_deviation": deviation,
            "explained": explained,
            **gained(gains, lesson.seats),
            "decisions": float(size),
        }

    def judge(self, lesson: PlayLesson) -> NDArray[np.float32]:
        """Advantages ``[N]`` of what another model decided in a block, before this one learns from it."""
        if not len(lesson.rewards):
            return lesson.rewards
        scale = self._scale or _deviation(lesson.rewards, lesson.decisions["weight"])
        return self._advantages(lesson._replace(rewards=lesson.rewards / max(scale, 1e-6)))[0]

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
            self.model.gradient(self._batch(lesson, advantages))
            for lesson, (advantages, _) in zip(scaled, found, strict=True)
        ]
        return torch.stack(gradients), float(np.mean([explained for _, explained in found]))

    def entropy_gradient(self, lesson: PlayLesson) -> Tensor:
        """``[P]``, of unit length: the direction in which the entropy of the policy rises fastest."""
        return self.model.entropy_gradient(self._batch(lesson, lesson.rewards))

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
        """What decisions brought, of standard deviation 1, and the share of rewards the critic explains."""
        weights, expected = lesson.decisions["weight"], self._expect(lesson)
        unexplained = _deviation(lesson.rewards - expected, weights)
        explained = 1.0 - (unexplained / max(_deviation(lesson.rewards, weights), 1e-6)) ** 2
        surprise = traced(lesson.rewards, expected, lesson.paths, self.plan.trace)
        return surprise / np.float32(max(_deviation(surprise, weights), 1e-6)), explained

    def log_draws(self, lesson: PlayLesson) -> NDArray[np.float32]:
        """``[N, 34]``: log-probabilities of the draws of the policy of the start; far below 0 elsewhere."""
        return log_draws(self._start, lesson.decisions, self.plan).numpy()

    def acting(self) -> dict[str, Tensor]:
        """The weights that actors play with: those of the last step."""
        return self.model.learner.weights(averaged=False)

    def normal(self) -> dict[str, Tensor]:
        """The averaged weights of the discard model, without those for what is hidden."""
        weights = self.model.learner.weights()
        return without_hidden(weights) if self.plan.guided else weights

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        critic = None if self.critic is None else self.critic.state()
        afterstates = None if self.afterstates is None else self.afterstates.state()
        return {
            **self.model.state(),
            "critic": critic,
            "afterstates": afterstates,
            "scale": self._scale,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.model.restore(state)
        if self.critic is not None:
            self.critic.restore(state["critic"])
        if self.afterstates is not None:
            self.afterstates.restore(state["afterstates"])
        self._scale = state["scale"]

    def _planes(self, lesson: PlayLesson, features: str) -> Tensor:
        decisions = lesson.decisions
        planes = encode(
            decisions["state"],
            decisions["player"],
            features,
            walls=lesson.walls if features == GUIDED else None,
            deep=self._deep,
            last_round=LAST_ROUND[self.plan.length],
            threads=self.model.learner.threads,
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
            chosen=torch.from_numpy(decisions["kind"].astype(np.int64)),
            behaviour=torch.from_numpy(np.log(decisions["probability"])),
            advantages=torch.from_numpy(advantages),
            weights=torch.from_numpy(decisions["weight"].astype(np.float32)),
            drawn=torch.from_numpy(kinds_of(decisions["drawn"])),
        )

    def _log_start(self, batch: PolicyBatch) -> Tensor:
        """Log-probabilities of the policy of the start."""
        seen = np.ascontiguousarray(batch.planes[:, : self._seen].numpy())
        return log_policy(torch.from_numpy(self._start.scores(seen)), batch.legal, self.plan.temperature)

    def _expect(self, lesson: PlayLesson) -> NDArray[np.float32]:
        """``[N]`` what the critic expects; zeros without one."""
        expected = np.zeros(len(lesson.rewards), np.float32)
        if self.critic is not None:
            for at in range(0, len(expected), _ROWS):
                rows = slice(at, at + _ROWS)
                expected[rows] = self.critic.expect(self._critic_planes(lesson.some(rows)))
        return expected


def gained(gains: NDArray[np.float64], seats: float) -> dict[str, float]:
    """The gain of a block over the start, a player's game, and its standard error."""
    return {"gain": float(gains.sum()) / seats, "gain_error": math.sqrt(float((gains**2).sum())) / seats}


def _deviation(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """Weighted standard deviation."""
    mean = np.average(values, weights=weights)
    return math.sqrt(np.average((values - mean) ** 2, weights=weights))
