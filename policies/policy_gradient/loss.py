"""The policy gradient: how scores must change so that actions which ended well become likelier.

For decisions in states s, with actions a that a policy π' took, and advantages A:

    maximise  E[ w · min(ρ A, clip(ρ) A) ] + α H(π) - κ KL(π ‖ π₀),   ρ = π(a|s) / π'(a|s)

The first term is equation (1) of the paper with PPO's clip, which can be switched off; the second is equation
(2), and α follows the entropy by equation (3). The third holds the policy near the one it started from.
Decisions with a ratio above a limit are rejected: they are too far from what the policy would do now.

Sources: Suphx, arXiv:2003.13590, section 3.1; PPO, arXiv:1707.06347, section 3.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from typing import Final, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies.features.draw import kinds_of

_NOT_ALLOWED: Final = -1e9
QUANTILES: Final = (0.01, 0.5, 0.99)
"""Quantiles of the ratios that are reported."""


class PolicyBatch(NamedTuple):
    """Discards to learn from, each a choice among K = 34 kinds.

    Attributes:
        planes: ``[B, C, 34]`` uint8 with 255 for 1.
        legal: ``[B, K]`` bool.
        chosen: ``[B]`` int64, the kind that was drawn.
        behaviour: ``[B]`` float32, the logarithm of the probability with which it was.
        advantages: ``[B]`` float32.
        weights: ``[B]`` float32, decisions that each stands for.
        start: ``[B, K]`` float32, log-probabilities of the policy to stay near to; None without one.
    """

    planes: Tensor
    legal: Tensor
    chosen: Tensor
    behaviour: Tensor
    advantages: Tensor
    weights: Tensor
    start: Tensor | None = None

    @classmethod
    def of(cls, planes: Tensor, decisions: NDArray[np.void], advantages: NDArray[np.floating]) -> PolicyBatch:
        """A batch of recorded decisions.

        Args:
            planes: of each.
            decisions: ``[B]`` of `policies.policy_gradient.trajectories.DECISION`.
            advantages: of each.
        """
        return cls(
            planes=planes,
            legal=torch.from_numpy(kinds_of(decisions["legal"])),
            chosen=torch.from_numpy(decisions["kind"].astype(np.int64)),
            behaviour=torch.from_numpy(np.log(decisions["probability"])),
            advantages=torch.from_numpy(advantages.astype(np.float32)),
            weights=torch.from_numpy(decisions["weight"].astype(np.float32)),
        )


class PolicyObjective(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the objective.

    Attributes:
        clip: ratios are clipped this far from 1 where that lowers the objective; 0 for no clip.
        reject: decisions with a larger ratio are left out.
        anchor: weight κ of the divergence from the start.
        temperature: of the policy π: that of the draws in play, or ratios are not 1 on-policy.
    """

    clip: float = 0.2
    reject: float = 4.0
    anchor: float = 0.0
    temperature: float = 1.0


class PolicyMeasures(NamedTuple):
    """Measures of one batch; tensors ``[B]`` without gradient.

    Attributes:
        weights: of the decisions.
        ratios: π / π'.
        entropies: of π, in nats.
        divergences: KL(π ‖ π₀) in nats; zeros without a start.
        rejected: bool.
    """

    weights: Tensor
    ratios: Tensor
    entropies: Tensor
    divergences: Tensor
    rejected: Tensor


def log_policy(scores: Tensor, legal: Tensor, temperature: float = 1.0) -> Tensor:
    """``[B, K]`` log-probabilities over the legal options; far below 0 elsewhere.

    Args:
        scores: ``[B, K]`` logits.
        legal: ``[B, K]`` bool.
        temperature: of the softmax.
    """
    return torch.log_softmax((scores.float() / temperature).masked_fill(~legal, _NOT_ALLOWED), dim=1)


def policy_loss(
    scores: Tensor, batch: PolicyBatch, objective: PolicyObjective, alpha: float
) -> tuple[Tensor, PolicyMeasures]:
    """The negative objective, a mean over decisions, and the measures of the batch.

    Args:
        scores: ``[B, K]`` logits of π.
        batch: on any device.
        objective: its settings.
        alpha: weight of the entropy.
    """
    batch = PolicyBatch(*(None if part is None else part.to(scores.device) for part in batch))  # type: ignore[arg-type]
    log_all = log_policy(scores, batch.legal, objective.temperature)
    chosen = log_all.gather(1, batch.chosen[:, None]).squeeze(1)
    ratios = (chosen - batch.behaviour).exp()
    rejected = ratios.detach() > objective.reject
    every = log_all.exp()
    gains = _gains(ratios, batch.advantages, objective).masked_fill(rejected, 0.0)
    entropies = -(every * log_all.masked_fill(~batch.legal, 0.0)).sum(1)
    value = gains + alpha * entropies
    divergences = torch.zeros_like(chosen)
    if batch.start is not None:
        apart = (log_all - batch.start).masked_fill(~batch.legal, 0.0)
        divergences = (every * apart).sum(1)
        if objective.anchor:
            value = value - objective.anchor * divergences
    loss = -(batch.weights * value).mean()
    measures = PolicyMeasures(
        batch.weights, ratios.detach(), entropies.detach(), divergences.detach(), rejected
    )
    return loss, measures


def _gains(ratios: Tensor, advantages: Tensor, objective: PolicyObjective) -> Tensor:
    """``[B]``: the advantages of what was drawn, times their ratios, clipped as in PPO."""
    gains = ratios * advantages
    if not objective.clip:
        return gains
    clipped = ratios.clamp(1.0 - objective.clip, 1.0 + objective.clip) * advantages
    return torch.minimum(gains, clipped)


class EntropyControl(msgspec.Struct):
    """The weight of the entropy, which follows the entropy itself: equation (3).

    Attributes:
        target: entropy to hold, in nats.
        step: β.
        alpha: α, at least `least` and at most `most`.
        least: lower limit; negative values lower the entropy.
        most: upper limit.
    """

    target: float
    step: float
    alpha: float = 0.0
    least: float = -0.1
    most: float = 0.1

    def follow(self, entropy: float) -> None:
        """Move α by what the entropy of recent decisions lacks."""
        moved = self.alpha + self.step * (self.target - entropy)
        self.alpha = min(max(moved, self.least), self.most)


class PolicyFigures:
    """Collects the measures of many batches, from any threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: defaultdict[str, list[Tensor]] = defaultdict(list)

    def add(self, measures: PolicyMeasures) -> None:
        """Add those of a batch."""
        with self._lock:
            for name, values in measures._asdict().items():
                self._parts[name].append(values.float().cpu())

    def means(self) -> dict[str, float]:
        """Weighted means and the quantiles of the ratios, by name; empty without measures."""
        if not self._parts:
            return {}
        whole = {name: torch.cat(values).double() for name, values in self._parts.items()}
        weights = whole["weights"]
        weight = math.fsum(weights.tolist())

        def mean(values: Tensor) -> float:
            # exact, so that it does not depend on which thread came first
            return math.fsum((weights * values).tolist()) / weight

        found = {
            "entropy": mean(whole["entropies"]),
            "divergence": mean(whole["divergences"]),
            "rejected": mean(whole["rejected"]),
            "ratio_deviation": math.sqrt(mean((whole["ratios"] - 1.0) ** 2)),
        }
        marks = torch.quantile(_some(whole["ratios"]), torch.tensor(QUANTILES, dtype=torch.float64))
        return found | {
            f"ratio_{quantile:g}": float(mark) for quantile, mark in zip(QUANTILES, marks, strict=True)
        }


def _some(values: Tensor, most: int = 1_000_000) -> Tensor:
    """At most this many of the values, evenly taken: `torch.quantile` refuses more."""
    return values[:: -(-len(values) // most)]
