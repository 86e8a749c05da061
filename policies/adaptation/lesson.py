"""What all ways to learn from play-outs have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from torch import Tensor

from policies.adaptation.pool import PlayOutPool

PIECE: Final = 256
"""Decisions whose layers are in memory at once."""
MEASURED: Final = 512
"""Decisions on which the divergence is measured."""


class Learned(NamedTuple):
    """What was learned.

    Attributes:
        signal: share of the squared length of what the play-outs say that is no noise, by how much parts of
            the deals agree.
        divergence: KL(π₀ ‖ π) in nats over the decisions.
    """

    signal: float
    divergence: float


class AdaptationLesson(Protocol):
    """Changes a copy of a network by what a pool of play-outs teaches."""

    def learn(self, pool: PlayOutPool, furthest: float, between: Callable[[], None]) -> Learned:
        """Learn, from the network of the start on.

        Args:
            pool: all play-outs so far; those that are new were played by the network as it is.
            furthest: how far to go: as `AdaptationSettings.divergence`.
            between: called every few hundred decisions; what it raises ends the lesson.

        Raises:
            ModelError: the worth of a play-out is not finite.
        """

    def forget(self) -> None:
        """Take the network back to that of the start."""


def mean_divergence(start: Tensor, now: Tensor, legal: Tensor, weights: Tensor) -> float:
    """Mean KL(π₀ ‖ π) over decisions, in nats.

    Args:
        start: ``[B, K]``, log-probabilities by π₀.
        now: ``[B, K]``, those by π.
        legal: ``[B, K]`` bool.
        weights: ``[B]``.
    """
    apart = (start.exp() * (start - now).masked_fill(~legal, 0.0)).sum(1)
    return float((apart * weights).sum() / weights.sum())


def pieces(count: int) -> Sequence[slice]:
    """Parts of so many decisions."""
    return [slice(start, start + PIECE) for start in range(0, count, PIECE)]
