"""Dropout that repeats itself: what it leaves out follows from a seed, so a resumed run ends the same."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

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
