"""Convolutions over three neighbouring kinds along all 34 columns, the tower of the paper; pooled context.

A convolution sees neighbouring kinds only. With pooled context every block sees the whole hand: it adds to
each column what the means of its suit, of all suits and of the honours say.

Sources: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5; KataGo's global pooling, arXiv:1902.10565,
section 4.1.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.features.table import KINDS
from policies.nets.architectures import HIDDEN, HONOURS, NARROW, RANKS, SUITED, SUITS, TAPS, YES_NO


def convolution(inputs: int, outputs: int) -> nn.Conv1d:
    """A convolution over three neighbouring kinds, without bias: normalisation follows."""
    layer = nn.Conv1d(inputs, outputs, TAPS, padding=TAPS // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    return layer


def norm(width: int) -> nn.BatchNorm1d:
    """Batch normalisation of a layer's channels."""
    layer = nn.BatchNorm1d(width)
    layer.num_batches_tracked = None  # only averages without momentum use the batch count
    return layer


def image_norm(width: int) -> nn.BatchNorm2d:
    """Batch normalisation of an image's channels."""
    layer = nn.BatchNorm2d(width)
    layer.num_batches_tracked = None  # only averages without momentum use the batch count
    return layer


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = convolution(width, width)
        self.first_norm = norm(width)
        self.second = convolution(width, width)
        self.second_norm = norm(width)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, 34]`` to the same shape."""
        inner = functional.relu(self.first_norm(self.first(x)))
        change: Tensor = self.second_norm(self.second(inner))
        return functional.relu(x + change)

    @torch.no_grad()
    def change_nothing(self) -> None:
        """Become the identity of what is not negative; learning goes on from there."""
        self.second_norm.weight.zero_()
        self.second_norm.bias.zero_()


class DiscardHead(nn.Module):
    """One score for each tile kind."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Conv1d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, 34]`` to ``[B, 34]``."""
        scores: Tensor = self.score(x)
        return scores.squeeze(1)


class YesNoHead(nn.Module):
    """Scores of "no" and "yes" to one question."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.narrow = nn.Conv1d(width, NARROW, 1)
        self.dense = nn.Linear(NARROW * KINDS, HIDDEN * width)
        self.answer = nn.Linear(HIDDEN * width, YES_NO)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, 34]`` to ``[B, 2]``."""
        flat = functional.relu(self.narrow(x)).flatten(1)
        scores: Tensor = self.answer(functional.relu(self.dense(flat)))
        return scores


class Context(NamedTuple):
    """Additions to the columns of each suit, ``[B, width, 3]``, and of the honours, ``[B, width]``."""

    suits: Tensor
    honours: Tensor


class PooledContext(nn.Module):
    """From the means of the suits and of the honours to what is added to their columns.

    The three suits share their weights, so exchanging two suits exchanges what is added to them.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own_suit = nn.Linear(width, width, bias=False)
        self.suits = nn.Linear(2 * width, width, bias=False)
        self.honours = nn.Linear(2 * width, width, bias=False)

    def forward(self, suit_means: Tensor, honour_mean: Tensor) -> Context:
        """Add up what each mean says.

        Args:
            suit_means: ``[B, width, 3]``.
            honour_mean: ``[B, width]``.
        """
        whole = torch.cat([suit_means.mean(2), honour_mean], 1)
        own: Tensor = self.own_suit(suit_means.transpose(1, 2)).transpose(1, 2)
        return Context(own + self.suits(whole)[:, :, None], self.honours(whole))


class PooledBlock(ResidualBlock):
    """A residual block whose first convolution is joined by pooled context."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.context = PooledContext(width)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, 34]`` to the same shape."""
        suits = x[..., :SUITED].reshape(*x.shape[:2], SUITS, RANKS)
        context: Context = self.context(suits.mean(3), x[..., SUITED:].mean(2))
        added = torch.cat(
            [
                context.suits.repeat_interleave(RANKS, 2),
                context.honours[:, :, None].expand(-1, -1, HONOURS),
            ],
            2,
        )
        inner = functional.relu(self.first_norm(self.first(x) + added))
        change: Tensor = self.second_norm(self.second(inner))
        return functional.relu(x + change)
