"""The networks of the five models: a residual tower over the 34 tile kinds, with one of two heads.

After Suphx: convolutions over three neighbouring kinds, no pooling, because each column has its own meaning;
one score per kind for the discard, "no" and "yes" for the other four. Width and depth are free: 256×50 is the
paper's size, 64×6 a size for playing and training on a CPU.

Each convolution of the tower is followed by batch normalisation. In play a network uses the averages from
training (``eval``), so a position gives the same numbers alone and in a batch.

Source: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5, table 2.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.features.table import KINDS, ONE

Outputs: TypeAlias = Literal[2, 34]

DISCARDS: Final = 34
"""Outputs of the discard model: a score for each kind."""
YES_NO: Final = 2
"""Outputs of the other models: scores of "no" and of "yes"."""
YES: Final = 1

_TAPS: Final = 3
_NARROW: Final = 32
"""Channels that remain before a yes/no head combines all kinds."""


class Architecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="residual"):
    """What a network is built from.

    Attributes:
        planes: number of input planes.
        outputs: 34 for discards, 2 for yes and no.
        width: channels of the tower.
        depth: residual blocks.
    """

    planes: int
    outputs: Outputs
    width: int
    depth: int


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _convolution(width, width)
        self.first_norm = _norm(width)
        self.second = _convolution(width, width)
        self.second_norm = _norm(width)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, 34]`` to the same shape."""
        inner = functional.relu(self.first_norm(self.first(x)))
        change: Tensor = self.second_norm(self.second(inner))
        return functional.relu(x + change)


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
        hidden = 4 * width
        self.narrow = nn.Conv1d(width, _NARROW, 1)
        self.dense = nn.Linear(_NARROW * KINDS, hidden)
        self.answer = nn.Linear(hidden, YES_NO)

    def forward(self, x: Tensor) -> Tensor:
        """``[B, width, 34]`` to ``[B, 2]``."""
        flat = functional.relu(self.narrow(x)).flatten(1)
        scores: Tensor = self.answer(functional.relu(self.dense(flat)))
        return scores


class Network(nn.Module):
    """One of the five models.

    Args:
        architecture: its sizes.

    Raises:
        ValueError: a size is not positive.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        if min(architecture.planes, architecture.width, architecture.depth) < 1:
            raise ValueError(f"planes, width and depth must be at least 1: {architecture}")
        self.architecture = architecture
        width = architecture.width
        self.stem = _convolution(architecture.planes, width)
        self.stem_norm = _norm(width)
        self.tower = nn.Sequential(*(ResidualBlock(width) for _ in range(architecture.depth)))
        self.head = DiscardHead(width) if architecture.outputs == DISCARDS else YesNoHead(width)

    def forward(self, x: Tensor) -> Tensor:
        """Score the answers.

        Args:
            x: ``[B, planes, 34]`` floats from 0 to 1, as `as_input` returns them.

        Returns:
            ``[B, 34]`` or ``[B, 2]`` logits. Masking illegal actions is left to the caller.
        """
        scores: Tensor = self.head(self.tower(functional.relu(self.stem_norm(self.stem(x)))))
        return scores


def as_input(planes: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Convert the encoder's planes to a network's input.

    Args:
        planes: ``[B, C, 34]`` uint8, 255 for 1.
        dtype: dtype of the floats.
    """
    return planes.to(dtype).mul_(1.0 / ONE)


def parameters_of(network: nn.Module) -> int:
    """Number of learned parameters of a network."""
    return sum(parameter.numel() for parameter in network.parameters())


def _convolution(inputs: int, outputs: int) -> nn.Conv1d:
    layer = nn.Conv1d(inputs, outputs, _TAPS, padding=_TAPS // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    return layer


def _norm(width: int) -> nn.BatchNorm1d:
    layer = nn.BatchNorm1d(width)
    layer.num_batches_tracked = None  # only averages without momentum use the batch count
    return layer
