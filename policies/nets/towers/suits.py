"""Suits apart: the three suits pass through the same weights, the honours through their own.

Nothing crosses from 9m to 1p; suits and honours meet in pooled context only. Exchanging suits in the planes
therefore exchanges the scores, and leaves a yes or no unchanged.

Suits are images of one row a suit, ``[B, C, 3, 9]``, honours of one row, ``[B, C, 1, 7]``. Channels lie
together in memory (``channels_last``): on a CPU this trains faster than ``[B, C, 34]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.nets.architectures import HIDDEN, HONOURS, NARROW, RANKS, SUITED, SUITS, TAPS, YES_NO
from policies.nets.towers.residual import Context, PooledContext, image_norm


class Columns(NamedTuple):
    """The columns of a position: suits ``[B, C, 3, 9]`` and honours ``[B, C, 1, 7]``."""

    suits: Tensor
    honours: Tensor


class SuitsStem(nn.Module):
    """The first layer.

    Args:
        planes: number of input planes.
        width: channels of the tower.
        by_suit: the first plane of each group of three that has one plane a suit, m, p, s.
        squeeze: channels to which the planes of each column are reduced first; 0 to leave them.
    """

    def __init__(self, planes: int, width: int, by_suit: Sequence[int] = (), squeeze: int = 0) -> None:
        super().__init__()
        self.by_suit = tuple(by_suit)
        self.squeeze = nn.Conv2d(planes, squeeze, 1, bias=False) if squeeze else None
        self.convolution = SuitsConvolution(squeeze or planes, width)

    def forward(self, x: Tensor) -> Columns:
        """``[B, planes, 34]`` to the columns of ``width`` channels."""
        columns = columns_of(x, self.by_suit)
        if self.squeeze is not None:
            columns = Columns(self.squeeze(columns.suits), self.squeeze(columns.honours))
        first: Columns = self.convolution(columns)
        return first


class SuitsConvolution(nn.Module):
    """Three neighbouring kinds of a suit, and each honour alone."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.suits = nn.Conv2d(inputs, outputs, (1, TAPS), padding=(0, TAPS // 2), bias=False)
        self.honours = nn.Conv2d(inputs, outputs, 1, bias=False)
        for layer in (self.suits, self.honours):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            layer.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: Columns) -> Columns:
        """Columns of ``inputs`` channels to columns of ``outputs``."""
        return Columns(self.suits(x.suits), self.honours(x.honours))


class SuitsNorm(nn.Module):
    """Batch normalisation, of the suits together and of the honours."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.suits, self.honours = image_norm(width), image_norm(width)

    def forward(self, x: Columns) -> Columns:
        """Columns to columns of the same shape."""
        return Columns(self.suits(x.suits), self.honours(x.honours))


class SuitsScale(nn.Module):
    """A scale and a bias for each channel, in place of batch normalisation.

    Args:
        width: channels.
        first: the first scale of each; 0 lets a block begin as the identity.
    """

    def __init__(self, width: int, first: float = 1.0) -> None:
        super().__init__()
        self.suits, self.honours = ChannelScale(width, first), ChannelScale(width, first)

    def forward(self, x: Columns) -> Columns:
        """Columns to columns of the same shape."""
        return Columns(self.suits(x.suits), self.honours(x.honours))


class ChannelScale(nn.Module):
    """A scale and a bias for each channel of an image."""

    def __init__(self, width: int, first: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), first))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, …]`` to the same shape."""
        return x * self.weight[:, None, None] + self.bias[:, None, None]


def norm(width: int, first: float = 1.0, *, normalised: bool = True) -> SuitsNorm | SuitsScale:
    """The normalisation after a convolution, or the scale in its place.

    Args:
        width: channels.
        first: the first scale, if there is no normalisation.
        normalised: whether batch normalisation follows.
    """
    return SuitsNorm(width) if normalised else SuitsScale(width, first)


class SuitsBlock(nn.Module):
    """Two convolutions with a skip connection; pooled context joins the first.

    Args:
        width: channels.
        normalised: whether batch normalisation follows each.
    """

    def __init__(self, width: int, *, normalised: bool = True) -> None:
        super().__init__()
        self.first = SuitsConvolution(width, width)
        self.context = PooledContext(width)
        self.first_norm = norm(width, normalised=normalised)
        self.second = SuitsConvolution(width, width)
        self.second_norm = norm(width, 0.0, normalised=normalised)

    def forward(self, x: Columns, who: Columns | None = None) -> Columns:
        """Columns of ``width`` channels to the same shape.

        Args:
            x: the columns.
            who: what is added to each column inside the block, ``[B, width, 1, 1]``, if anything.
        """
        # Learning is bound by memory: sums whose gradient needs no copy, and nothing written twice.
        context: Context = self.context(x.suits.sum(3) / RANKS, x.honours.sum((2, 3)) / HONOURS)
        added = Columns(context.suits[..., None], context.honours[:, :, None, None])
        inner = add_(self.first(x), added if who is None else add_(added, who))
        change = self.second_norm(self.second(relu_(self.first_norm(inner))))
        return relu_(add_(change, x))

    @torch.no_grad()
    def change_nothing(self) -> None:
        """Become the identity of what is not negative; learning goes on from there."""
        for scale in (self.second_norm.suits, self.second_norm.honours):
            scale.weight.zero_()
            scale.bias.zero_()


class SuitsScores(nn.Module):
    """Several scores for each tile kind."""

    def __init__(self, width: int, scores: int) -> None:
        super().__init__()
        self.suits, self.honours = nn.Conv2d(width, scores, 1), nn.Conv2d(width, scores, 1)

    def forward(self, x: Columns) -> Tensor:
        """Columns of ``width`` channels to ``[B, scores, 34]``."""
        return torch.cat([self.suits(x.suits).flatten(2), self.honours(x.honours).flatten(2)], 2)


class SuitsDiscardHead(SuitsScores):
    """One score for each tile kind."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 1)

    def forward(self, x: Columns) -> Tensor:
        """Columns of ``width`` channels to ``[B, 34]``."""
        return super().forward(x).squeeze(1)


class SuitsYesNoHead(nn.Module):
    """Scores of "no" and "yes" to one question; the suits' shares of the hidden layer are added up.

    Args:
        width: channels of the tower.
        outputs: number of scores.
    """

    def __init__(self, width: int, outputs: int = YES_NO) -> None:
        super().__init__()
        self.narrow = nn.ModuleDict(
            {"suits": nn.Conv2d(width, NARROW, 1), "honours": nn.Conv2d(width, NARROW, 1)}
        )
        self.suits = nn.Linear(NARROW * RANKS, HIDDEN * width)
        self.honours = nn.Linear(NARROW * HONOURS, HIDDEN * width, bias=False)
        self.answer = nn.Linear(HIDDEN * width, outputs)

    def forward(self, x: Columns) -> Tensor:
        """Columns of ``width`` channels to ``[B, outputs]``."""
        suits = functional.relu(self.narrow["suits"](x.suits))
        honours = functional.relu(self.narrow["honours"](x.honours))
        each: Tensor = self.suits(suits.transpose(1, 2).flatten(2))
        hidden = functional.relu(each.sum(1) + self.honours(honours.flatten(1)))
        scores: Tensor = self.answer(hidden)
        return scores


def add_(x: Columns, y: Columns) -> Columns:
    """The columns ``x`` with ``y`` added in place."""
    return Columns(x.suits.add_(y.suits), x.honours.add_(y.honours))


def relu_(x: Columns) -> Columns:
    """The columns, with negative values set to 0 in place."""
    return Columns(x.suits.relu_(), x.honours.relu_())


def columns_of(planes: Tensor, by_suit: Sequence[int] = ()) -> Columns:
    """Planes as columns.

    A group with a plane for each suit would tell suits apart. Each suit sees it as three planes instead: its
    own, the larger and the smaller of the others; the honours see the three in descending order.

    Args:
        planes: ``[B, C, 34]`` of any type.
        by_suit: the first plane of each such group.
    """
    batch, channels = planes.shape[:2]
    suited = planes[..., :SUITED].reshape(batch, channels, SUITS, RANKS)
    suits = suited.contiguous(memory_format=torch.channels_last)
    honours = planes[..., None, SUITED:].contiguous(memory_format=torch.channels_last)
    for first in by_suit:
        group = slice(first, first + SUITS)
        for suit in range(SUITS):
            others = [suited[:, first + other, suit] for other in range(SUITS) if other != suit]
            suits[:, first, suit] = suited[:, first + suit, suit]
            suits[:, first + 1, suit] = torch.maximum(*others)
            suits[:, first + 2, suit] = torch.minimum(*others)
        honours[:, group] = planes[:, group, None, SUITED:].sort(1, descending=True).values
    return Columns(suits, honours)
