"""Imitation: how far a network's answers are from the players'."""

from __future__ import annotations

from typing import Final

from torch import Tensor
from torch.nn import functional

from learning.samples.loader import Batch

_NOT_ALLOWED: Final = -1e9


def imitation_loss(scores: Tensor, batch: Batch) -> Tensor:
    """Mean cross-entropy over the legal answers.

    Args:
        scores: ``[B, 34]`` or ``[B, 2]`` logits.
        batch: labels, and for discards the legal kinds.
    """
    scores = allowed(scores, batch)
    return functional.cross_entropy(scores, batch.labels.to(scores.device))


def agrees(scores: Tensor, batch: Batch) -> Tensor:
    """``[B]`` bool: whether the likeliest legal answer is the player's."""
    scores = allowed(scores, batch)
    return scores.argmax(1) == batch.labels.to(scores.device)


def allowed(scores: Tensor, batch: Batch) -> Tensor:
    """The scores in float32, those of illegal discards far below all others."""
    scores = scores.float()
    if batch.legal is None:
        return scores
    return scores.masked_fill(~batch.legal.to(scores.device), _NOT_ALLOWED)
