"""Hosei's network, which folds along its own filters, and the model it is compared with.

Hosei's: the first layer turns all planes of a tile kind into 512 numbers, the same for every kind of a suit.
The result is an image of one channel, filters × kinds, one for each suit and one for the honours. Layers of
50 filters over 3×3 (honours 3×1) follow, then a dense layer that sees all of them.

The three suits share their weights up to the dense layer: exchanging suits in the planes exchanges their
images. The dense layer has weights of its own for each suit, so the scores are not exchanged.

The base model has an image of kinds × copies instead, 34×4, with one channel for each feature.

The paper leaves open: whether suits share weights (here they do), padding (none), the rate of dropout (1/4),
and the layers of the base model, where ours shrink 34×4 to 22×1.

Source: Mizuguchi and Fujita, "Learning behavioral models of mahjong players with enhanced convolution",
section 2.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.features.table import COPIES, KINDS
from policies.nets.architectures import RANKS, SUITED, SUITS
from policies.nets.shapes import BASE_KERNEL, DENSE, FILTERS, SPAN, base_channels, base_inputs, hosei_inputs
from policies.nets.towers.residual import image_norm, norm

_BYTE: Final = 256
_NUMBER: Final = 8
"""Bytes of a random number."""


class Dropout(nn.Module):
    """Sets some values to 0 in training and scales the others up; does nothing in play.

    Args:
        rate: share of the values set to 0, rounded to 1/256.

    Attributes:
        seed: of the next values left out; `reseed` sets it.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self._left_out = round(rate * _BYTE)
        self.seed = 0

    def forward(self, x: Tensor) -> Tensor:
        """Any shape to the same shape."""
        if not self.training or not self._left_out:
            return x
        # torch multiplies by floats in half the time that it takes by bools
        return (x * (_BYTE / (_BYTE - self._left_out))).mul_(self._kept(x).to(x.dtype))

    def _kept(self, x: Tensor) -> Tensor:
        """Which values stay; a random number decides on eight of them, each by one of its bytes."""
        generator = torch.Generator(x.device).manual_seed(self.seed)
        numbers = torch.empty(-(-x.numel() // _NUMBER), dtype=torch.int64, device=x.device)
        drawn = numbers.random_(-(1 << 63), None, generator=generator).view(torch.uint8)
        return (drawn[: x.numel()] >= self._left_out).view(x.shape)


def reseed(network: nn.Module, *numbers: int) -> None:
    """Give each dropout of a network a seed that follows from these numbers, all at least 0."""
    layers = [layer for layer in network.modules() if isinstance(layer, Dropout)]
    for layer, seed in zip(layers, np.random.SeedSequence(numbers).generate_state(len(layers)), strict=True):
        layer.seed = int(seed)


DROPOUT: Final = 0.25


class Images(NamedTuple):
    """Filters × kinds: suits ``[3B, C, F, K]``, those of a position together; honours ``[B, C, F, 7]``."""

    suits: Tensor
    honours: Tensor


class HoseiStem(nn.Module):
    """The first layer: all planes of one kind.

    Args:
        planes: number of input planes.
        width: filters.
    """

    def __init__(self, planes: int, width: int) -> None:
        super().__init__()
        self.suits = nn.Conv1d(planes, width, 1, bias=False)
        self.honours = nn.Conv1d(planes, width, 1, bias=False)
        for layer in (self.suits, self.honours):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Images:
        """``[B, planes, 34]`` to suits ``[3B, width, 9]`` and honours ``[B, width, 7]``."""
        suits = x[..., :SUITED].reshape(*x.shape[:2], SUITS, RANKS).transpose(1, 2).flatten(0, 1)
        return Images(self.suits(suits), self.honours(x[..., SUITED:]))


class HoseiNorm(nn.Module):
    """Batch normalisation of the first layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.suits, self.honours = norm(width), norm(width)

    def forward(self, x: Images) -> Images:
        """Images to images of the same shape."""
        return Images(self.suits(x.suits), self.honours(x.honours))


class HoseiLayer(nn.Module):
    """A layer of `FILTERS` filters; the first takes the filters of the stem as an axis of its image.

    Args:
        number: 0 for the first.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self._first = number == 0
        channels = 1 if self._first else FILTERS
        self.suits_dropout, self.honours_dropout = Dropout(DROPOUT), Dropout(DROPOUT)
        self.suits = nn.Conv2d(channels, FILTERS, (SPAN, SPAN), bias=False)
        self.honours = nn.Conv2d(channels, FILTERS, (SPAN, 1), bias=False)
        self.suits_norm, self.honours_norm = image_norm(FILTERS), image_norm(FILTERS)
        for layer in (self.suits, self.honours):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def forward(self, x: Images) -> Images:
        """Images to images two filters shorter, and two kinds narrower for suits."""
        suits, honours = (image[:, None] if self._first else image for image in x)
        return Images(
            functional.relu_(self.suits_norm(self.suits(self.suits_dropout(suits)))),
            functional.relu_(self.honours_norm(self.honours(self.honours_dropout(honours)))),
        )


class HoseiHead(nn.Module):
    """The dense layer that joins suits and honours, and the scores.

    Args:
        width: filters of the first layer.
        depth: layers of `FILTERS` filters.
        outputs: number of scores.

    Raises:
        ValueError: the layers leave nothing of the images.
    """

    def __init__(self, width: int, depth: int, outputs: int) -> None:
        super().__init__()
        self.joined = _Joined(hosei_inputs(width, depth), outputs)

    def forward(self, x: Images) -> Tensor:
        """Images to ``[B, outputs]``."""
        suits = x.suits.reshape(len(x.honours), -1)
        scores: Tensor = self.joined(torch.cat([suits, x.honours.flatten(1)], 1))
        return scores


class BaseStem(nn.Module):
    """The planes of the Hosei set as images: one channel a feature, 34 kinds × 4 copies."""

    def __init__(self, planes: int, width: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(base_channels(planes), width, BASE_KERNEL, bias=False)
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """``[B, planes, 34]`` to ``[B, width, 30, 3]``."""
        images: Tensor = self.convolution(x.reshape(len(x), -1, COPIES, KINDS).transpose(2, 3))
        return images


class BaseLayer(nn.Module):
    """A further layer of the same number of filters."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dropout = Dropout(DROPOUT)
        self.convolution = nn.Conv2d(width, width, BASE_KERNEL, bias=False)
        self.norm = image_norm(width)
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, K, C]`` to ``[B, width, K - 4, C - 1]``."""
        return functional.relu(self.norm(self.convolution(self.dropout(x))))


class BaseHead(nn.Module):
    """The dense layer and the scores.

    Args:
        width: filters of each layer.
        depth: layers after the first.
        outputs: number of scores.

    Raises:
        ValueError: the layers leave nothing of the images.
    """

    def __init__(self, width: int, depth: int, outputs: int) -> None:
        super().__init__()
        self.joined = _Joined(base_inputs(width, depth), outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Images to ``[B, outputs]``."""
        scores: Tensor = self.joined(x.flatten(1))
        return scores


class _Joined(nn.Module):
    """Dropout, `DENSE` neurons, dropout, scores."""

    def __init__(self, size: int, outputs: int) -> None:
        super().__init__()
        self.dropout = Dropout(DROPOUT)
        self.dense = nn.Linear(size, DENSE, bias=False)
        self.norm = norm(DENSE)
        self.dense_dropout = Dropout(DROPOUT)
        self.answer = nn.Linear(DENSE, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, size]`` to ``[B, outputs]``."""
        hidden = functional.relu(self.norm(self.dense(self.dropout(x))))
        scores: Tensor = self.answer(self.dense_dropout(hidden))
        return scores


def relu(x: Images) -> Images:
    """The images, negative values set to 0."""
    return Images(functional.relu(x.suits), functional.relu(x.honours))
