"""Convolutions over three neighbouring kinds along all 34 columns: the tower of the paper.

Source: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.features.table import KINDS

TAPS: Final = 3
"""Neighbouring kinds a convolution sees."""
NARROW: Final = 32
"""Channels that remain before a yes/no head combines all kinds."""
HIDDEN: Final = 4
"""Width of a yes/no head's hidden layer, in widths of the tower."""
YES_NO: Final = 2
"""Outputs of the models that answer yes or no: scores of "no" and of "yes"."""


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
