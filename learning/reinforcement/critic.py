"""The critic: predicts the reward of a round from a position in it, as a baseline."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from learning.runs.learner import Learner, LearnerPlan
from policies.nets.networks import YES, YES_NO, Network, architecture_of

ROWS_LEARNED: Final = 512
"""Decisions whose layers are in memory at once: more are no faster."""


class CriticBatch(NamedTuple):
    """Positions and the rewards of their rounds.

    Attributes:
        planes: ``[B, C, 34]`` uint8 with 255 for 1.
        rewards: ``[B]`` float32, in units of their standard deviation.
        weights: ``[B]`` float32, number of decisions that each represents.
    """

    planes: Tensor
    rewards: Tensor
    weights: Tensor


class Critic:
    """A small network that learns the value of a position: the expected reward of its round.

    The value is the difference of the network's two outputs.

    Args:
        features: feature set of the planes.
        width: channels.
        depth: blocks.
        seed: seed of the weights.
        threads: threads that share a batch.

    Attributes:
        features: feature set of the planes.
    """

    def __init__(self, features: str, *, width: int, depth: int, seed: int, threads: int) -> None:
        self.features = features
        torch.manual_seed(seed)
        shape = architecture_of("suits", features, YES_NO, width, depth)
        # positions of a block are too alike for batch statistics
        network = Network(msgspec.structs.replace(shape, normalised=False))
        settings = LearnerPlan(features=features, seed=seed, averaging=0.98, weight_decay=1e-3)
        self._learner: Learner[CriticBatch] = Learner(
            network, settings, threads, loss=_loss, frozen=True, rows=ROWS_LEARNED
        )

    def close(self) -> None:
        """Stop the threads."""
        self._learner.close()

    def predict(self, planes: Tensor) -> NDArray[np.float32]:
        """``[B]`` predicted rewards, in units of their standard deviation."""
        batch = CriticBatch(planes, torch.zeros(len(planes)), torch.ones(len(planes)))
        values: NDArray[np.float32] = _value(self._learner.scores(batch)).cpu().numpy()
        return values

    def learn(self, batch: CriticBatch, step: int, rate: float) -> float:
        """Learn from a batch; return the mean square error."""
        return self._learner.step(batch, step, rate)

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return self._learner.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self._learner.restore(state)


def _value(scores: Tensor) -> Tensor:
    return scores[:, YES].float() - scores[:, 1 - YES].float()


def _loss(scores: Tensor, batch: CriticBatch) -> Tensor:
    errors = _value(scores) - batch.rewards.to(scores.device)
    return (batch.weights.to(scores.device) * errors**2).mean()
