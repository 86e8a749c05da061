"""The learner: policy gradient steps for the discard model, and the baseline of its rewards.

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

from game.scoring.settlement import LAST_ROUND, GameLength, RewardKind
from learning.runs.learner import Learner, LearnerPlan
from learning.selfplay.rl.plan import ReinforcementPlan
from policies.checkpoint.card import Card
from policies.features.encode import encode
from policies.features.table import GUIDED, looks_deep
from policies.nets.architectures import YES, YES_NO, Floats, Weights, architecture_of
from policies.nets.compute import choose_compute
from policies.nets.guidance import drop_hidden, guided, without_hidden
from policies.nets.networks import Network, network_of
from policies.play.inference import Model
from policies.policy_gradient.loss import (
    EntropyControl,
    PolicyBatch,
    PolicyFigures,
    PolicyObjective,
    log_policy,
    policy_loss,
)
from policies.policy_gradient.trajectories import Trajectory
from policies.reward.encoding import together
from policies.reward.predictor import Predictor, round_rewards

ROWS_LEARNED: Final = 512
"""Decisions whose activations are in memory at once: more are no faster."""


POINTS: Final = 1_000
"""The reward ``points`` counts thousands."""


class BlockSamples(NamedTuple):
    """The decisions of a block with their rewards.

    Attributes:
        decisions: ``[N]`` of `policies.policy_gradient.trajectories.DECISION`.
        rewards: ``[N]`` float32, rewards of their rounds.
        walls: ``[N, 136]`` int16, walls of their rounds.
    """

    decisions: NDArray[np.void]
    rewards: NDArray[np.float32]
    walls: NDArray[np.int16]

    def some(self, rows: NDArray[np.int64] | slice) -> BlockSamples:
        """The samples of some rows."""
        return BlockSamples(self.decisions[rows], self.rewards[rows], self.walls[rows])


def samples_of(games: Sequence[Trajectory], rewards: Sequence[NDArray[np.float64]]) -> BlockSamples:
    """The decisions of games, each with the reward of its player's round.

    Args:
        games: one or more.
        rewards: ``[T, 4]`` for each game, by round and player.
    """
    decisions = [game.decisions for game in games]
    found = [rows[part["round"], part["player"]] for part, rows in zip(decisions, rewards, strict=True)]
    walls = [game.walls[part["round"]] for game, part in zip(games, decisions, strict=True)]
    return BlockSamples(
        np.concatenate(decisions), np.concatenate(found).astype(np.float32), np.concatenate(walls)
    )


def rewards_of(
    games: Sequence[Trajectory], kind: RewardKind, predictor: Predictor, length: GameLength
) -> list[NDArray[np.float64]]:
    """The rewards of the rounds of finished games.

    Args:
        games: one or more.
        kind: ``points`` counts the points won in thousands; ``global`` is the change of the expected final
            reward, so that a game's rewards add up to its final reward less the expectation at its start.
        predictor: predicts final rewards; unused for ``points``.
        length: length of the games.

    Returns:
        ``[T, 4]`` for each game, by player.
    """
    if kind == "points":
        return [game.points / POINTS for game in games]
    padded = together([(game.starts, length) for game in games])
    rewards = round_rewards(predictor, padded, np.array([game.scores for game in games]))
    return [rows[: len(game.starts)] for rows, game in zip(rewards, games, strict=True)]


class BaselineBatch(NamedTuple):
    """Positions and the rewards of their rounds.

    Attributes:
        planes: ``[B, C, 34]`` uint8 with 255 for 1.
        rewards: ``[B]`` float32, in units of their standard deviation.
        weights: ``[B]`` float32, number of decisions that each represents.
    """

    planes: Tensor
    rewards: Tensor
    weights: Tensor


def baseline_of(plan: ReinforcementPlan, features: str, threads: int) -> Learner[BaselineBatch] | None:
    """A small network that learns the value of a position: the expected reward of its round; see `_value`.

    Args:
        plan: plan of the run.
        features: feature set of the policy.
        threads: threads that share a batch.

    Returns:
        None if the plan has no baseline.
    """
    if plan.baseline == "none":
        return None
    seen = GUIDED if plan.baseline == "oracle" else features
    torch.manual_seed(plan.seed)
    shape = architecture_of("suits", seen, YES_NO, plan.critic_width, plan.critic_depth)
    # positions of a block are too alike for batch statistics
    network = Network(msgspec.structs.replace(shape, normalised=False))
    settings = LearnerPlan(features=seen, seed=plan.seed, averaging=0.98, weight_decay=1e-3)
    return Learner(network, settings, threads, loss=_loss, frozen=True, rows=ROWS_LEARNED)


def _value(scores: Tensor) -> Tensor:
    """The difference of the two outputs."""
    return scores[:, YES].float() - scores[:, 1 - YES].float()


def _loss(scores: Tensor, batch: BaselineBatch) -> Tensor:
    errors = _value(scores) - batch.rewards.to(scores.device)
    return (batch.weights.to(scores.device) * errors**2).mean()


_ROWS: Final = 2_048
"""Decisions whose planes are in memory at once when the baseline predicts a whole block."""
_MEASURED: Final = 1_024
"""Decisions of a block on which the divergence from the start is measured."""


class PolicyLearner:
    """The discard model and its baseline in training.

    Args:
        plan: plan of the run.
        weights: of the discard network of the start.
        card: its card.
        threads: threads that share a batch on a CPU.

    Attributes:
        policy: network, averaged weights and optimiser of the discard model.
        baseline: learns to predict rewards; None without one.
        entropy: weight and target of the entropy.
    """

    def __init__(self, plan: ReinforcementPlan, weights: Weights, card: Card, threads: int) -> None:
        self.plan = plan
        features = str(card.features)
        self._deep = looks_deep(features, card.without)
        self._start = Model(weights, features, card.without, choose_compute("auto", plan.precision))
        self._features = GUIDED if plan.guided else features
        self._gamma = plan.gamma(0)
        self.policy: Learner[PolicyBatch] = Learner(
            network_of(guided(weights) if plan.guided else weights),
            LearnerPlan(
                features=self._features,
                without=card.without,
                weight_decay=plan.weight_decay,
                averaging=plan.averaging,
                seed=plan.seed,
                precision=plan.precision,
            ),
            threads,
            loss=self._loss,
            frozen=True,
            rows=ROWS_LEARNED,
        )
        self.baseline = baseline_of(plan, features, threads)
        self.entropy = EntropyControl(target=plan.entropy or 0.0, step=plan.entropy_step)
        self._objective = PolicyObjective(
            clip=plan.clip, reject=plan.reject, anchor=plan.anchor, temperature=plan.temperature
        )
        self._figures = PolicyFigures()
        self._scale = 0.0  # standard deviation of the rewards of recent blocks

    def close(self) -> None:
        """Stop the threads."""
        self.policy.close()
        if self.baseline is not None:
            self.baseline.close()

    def learn(self, samples: BlockSamples, block: int) -> dict[str, float]:
        """Learn from a block.

        Args:
            samples: its decisions with their rewards.
            block: its number, which determines the order of the decisions.

        Returns:
            Figures by name.
        """
        plan = self.plan
        self._gamma = plan.gamma(block)
        samples, deviation = self._normalised(samples)
        advantages, explained = self._advantages(samples)
        order = np.random.default_rng((plan.seed, block, 2)).permutation(len(advantages))
        losses = []
        for part, rows in enumerate(np.array_split(order, plan.steps)):
            number, some = block * plan.steps + part, samples.some(rows)
            batch = self._batch(some, advantages[rows])
            losses.append(self.policy.step(self._with_start(batch), number, plan.rate(block, number)))
            self._teach_baseline(some, number, batch.planes)
        measured = order[:_MEASURED]
        seen = self._follow_entropy()
        return {
            **seen,
            "loss": sum(losses) / len(losses),
            "divergence": self._divergence(self._batch(samples.some(measured), advantages[measured])),
            "gamma": self._gamma if plan.guided else 0.0,
            "reward_deviation": deviation,
            "explained": explained,
            "decisions": float(len(advantages)),
        }

    def acting(self) -> dict[str, Floats]:
        """The weights for the actors: those of the last step."""
        return self.policy.weights(averaged=False)

    def normal(self) -> dict[str, Floats]:
        """The averaged weights of the discard model, without those for hidden planes."""
        arrays = self.policy.weights()
        return without_hidden(arrays) if self.plan.guided else arrays

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {
            "policy": self.policy.state(),
            "entropy": msgspec.to_builtins(self.entropy),
            "critic": None if self.baseline is None else self.baseline.state(),
            "scale": self._scale,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.policy.restore(state["policy"])
        self.entropy = msgspec.convert(state["entropy"], EntropyControl)
        if self.baseline is not None:
            self.baseline.restore(state["critic"])
        self._scale = state["scale"]

    def _loss(self, scores: Tensor, batch: PolicyBatch) -> Tensor:
        loss, measures = policy_loss(scores, batch, self._objective, self.entropy.alpha)
        self._figures.add(measures)
        return loss

    def _follow_entropy(self) -> dict[str, float]:
        """Adjust the weight of the entropy after a block; return the mean measures of its steps."""
        seen, self._figures = self._figures.means(), PolicyFigures()
        if self.plan.entropy is None and not self.entropy.target:
            self.entropy.target = seen["entropy"]
        self.entropy.follow(seen["entropy"])
        return {**seen, "entropy_target": self.entropy.target, "alpha": self.entropy.alpha}

    def _teach_baseline(self, samples: BlockSamples, number: int, shown: Tensor) -> None:
        """Take a step of the baseline; ``shown`` are the policy's planes, which it may share."""
        if self.baseline is None:
            return
        features = self.baseline.plan.features
        shared = features == self._features and not self.plan.guided
        planes = shown if shared else self._planes(samples, features)
        weights = torch.from_numpy(samples.decisions["weight"].astype(np.float32))
        batch = BaselineBatch(planes, torch.from_numpy(samples.rewards), weights)
        self.baseline.step(batch, number, self.plan.critic_rate)

    def _normalised(self, samples: BlockSamples) -> tuple[BlockSamples, float]:
        """Divide rewards by their standard deviation over recent blocks; also return that of this block."""
        deviation = _deviation(samples.rewards, samples.decisions["weight"])
        self._scale = deviation if not self._scale else 0.9 * self._scale + 0.1 * deviation
        return samples._replace(rewards=samples.rewards / max(self._scale, 1e-6)), deviation

    def _advantages(self, samples: BlockSamples) -> tuple[NDArray[np.float32], float]:
        """Advantages of standard deviation 1, and the share of the variance that the baseline explains."""
        weights, advantages = samples.decisions["weight"], samples.rewards - self._predicted(samples)
        deviation = _deviation(advantages, weights)
        explained = 1.0 - (deviation / max(_deviation(samples.rewards, weights), 1e-6)) ** 2
        return advantages / np.float32(max(deviation, 1e-6)), explained

    def _predicted(self, samples: BlockSamples) -> NDArray[np.float32]:
        """``[N]`` rewards predicted by the baseline; zeros without one."""
        predicted = np.zeros(len(samples.rewards), np.float32)
        if self.baseline is not None:
            for at in range(0, len(predicted), _ROWS):
                rows = slice(at, at + _ROWS)
                planes = self._planes(samples.some(rows), self.baseline.plan.features)
                batch = BaselineBatch(planes, torch.zeros(len(planes)), torch.ones(len(planes)))
                predicted[rows] = _value(self.baseline.scores(batch)).cpu().numpy()
        return predicted

    def _planes(self, samples: BlockSamples, features: str) -> Tensor:
        decisions = samples.decisions
        planes = encode(
            decisions["state"],
            decisions["player"],
            features,
            walls=samples.walls if features == GUIDED else None,
            deep=self._deep,
            last_round=LAST_ROUND[self.plan.length],
            threads=self.policy.threads,
        )
        return torch.from_numpy(planes)

    def _batch(self, samples: BlockSamples, advantages: NDArray[np.float32]) -> PolicyBatch:
        decisions, planes = samples.decisions, self._planes(samples, self._features)
        if self.plan.guided:  # the same hidden planes are dropped as in play
            drop_hidden(planes.numpy(), decisions["hidden_seed"], self._gamma)
        return PolicyBatch.of(planes, decisions, advantages)

    def _with_start(self, batch: PolicyBatch) -> PolicyBatch:
        """Add the log-probabilities of the start, if divergence from it is penalised."""
        return batch._replace(start=self._log_start(batch)) if self.plan.anchor else batch

    @torch.no_grad()
    def _divergence(self, batch: PolicyBatch) -> float:
        """Mean KL(π ‖ π₀) in nats of the averaged weights over some decisions."""
        batch = batch._replace(start=self._log_start(batch))
        _, measures = policy_loss(self.policy.scores(batch).cpu(), batch, self._objective, 0.0)
        return float((measures.divergences * (batch.weights / batch.weights.sum())).sum())

    def _log_start(self, batch: PolicyBatch) -> Tensor:
        """Log-probabilities of the start, which has no hidden planes: those are the last ones."""
        planes = self._start.weights.architecture.planes
        seen = np.ascontiguousarray(batch.planes[:, :planes].numpy())
        return log_policy(torch.from_numpy(self._start.scores(seen)), batch.legal, self.plan.temperature)


def _deviation(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """Weighted standard deviation."""
    mean = np.average(values, weights=weights)
    return math.sqrt(np.average((values - mean) ** 2, weights=weights))
