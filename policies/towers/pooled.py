"""Pooled context: every block sees the whole hand.

A convolution sees neighbouring kinds only. Pooled context adds to each column what the means of its suit, of
all suits and of the honours say, as the global pooling of KataGo's networks does (arXiv:1902.10565, section
4.1).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.towers.residual import ResidualBlock

SUITS: Final = 3
RANKS: Final = 9
SUITED: Final = SUITS * RANKS
"""The columns of the suits; the honours follow."""
HONOURS: Final = 7


class Context(NamedTuple):
    """What is added to the columns of each suit, ``[B, width, 3]``, and of the honours, ``[B, width]``."""

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
