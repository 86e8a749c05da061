"""The networks that generate opponents' hands: a trunk that sees the state, and a small network beside it.

The trunk is the tower of the direct model. It is computed once for a state; the small network, whose columns
are the 34 kinds as well, runs at every step of generation. Both generators use it: diffusion gives it noisy
hands and gets clean ones, the autoregressive model gives it the tiles placed so far and gets scores of the
next.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from policies.features.table import KINDS
from policies.nets.architectures import Arrays, DenoiserArchitecture
from policies.nets.networks import Network, empty, filled
from policies.nets.shapes import INPUTS, MOMENTS, OUTPUTS
from policies.nets.towers.suits import Columns, SuitsBlock, SuitsConvolution, SuitsScores, columns_of, relu_

_FASTEST: Final = 1000.0
"""The fastest of them has this many radians from the beginning to the end."""


class DenoiserNetwork(nn.Module):
    """A trunk, which does not learn, and the small network beside it.

    Args:
        architecture: what it is for, and its sizes.

    Raises:
        ValueError: a size is not positive.
    """

    def __init__(self, architecture: DenoiserArchitecture) -> None:
        super().__init__()
        if min(architecture.width, architecture.depth) < 1:
            raise ValueError(f"width and depth must be at least 1: {architecture}")
        self.architecture = architecture
        width, depth = architecture.width, architecture.depth
        self.trunk = Network(architecture.trunk)
        self.trunk.head = nn.Identity()
        self.trunk.requires_grad_(False)
        self.without_trunk = nn.Parameter(torch.zeros(architecture.trunk_width))
        inputs = architecture.trunk_width + INPUTS[architecture.generates]
        self.merge = SuitsConvolution(inputs, width)
        self.times = nn.Linear(MOMENTS, (depth + 1) * width)
        self.blocks = nn.ModuleList(SuitsBlock(width, normalised=False) for _ in range(depth))
        self.answer = SuitsScores(width, OUTPUTS[architecture.generates])

    def train(self, mode: bool = True) -> DenoiserNetwork:
        """Let the small network learn; the trunk always normalises as in play."""
        super().train(mode)
        self.trunk.eval()
        return self

    @torch.no_grad()
    def trunk_columns(self, planes: Tensor) -> Columns:
        """The trunk's columns for ``[B, planes, 34]`` floats; every step of generation uses them."""
        seen: Columns = self.trunk(planes)
        return seen

    def forward(self, seen: Columns, inputs: Tensor, times: Tensor, kept: Tensor | None = None) -> Tensor:
        """One step of generation.

        Args:
            seen: what `trunk_columns` returned, one row for each of the B rows.
            inputs: ``[B, INPUTS, 34]``.
            times: ``[B]`` from 0 to 1: how much noise there is, or how many tiles are missing.
            kept: ``[B]`` 1 where the trunk is shown and 0 where it is hidden; None to show it everywhere.

        Returns:
            ``[B, OUTPUTS, 34]``.
        """
        if kept is not None:
            seen = Columns(self._hidden(seen.suits, kept), self._hidden(seen.honours, kept))
        own = columns_of(inputs)
        x = self.merge(
            Columns(torch.cat([seen.suits, own.suits], 1), torch.cat([seen.honours, own.honours], 1))
        )
        moments = self.times(_waves(times)).unflatten(1, (len(self.blocks) + 1, -1))[..., None, None]
        x = relu_(Columns(x.suits + moments[:, 0], x.honours + moments[:, 0]))
        for number, block in enumerate(self.blocks, 1):
            x = block(Columns(x.suits + moments[:, number], x.honours + moments[:, number]))
        answers: Tensor = self.answer(x)
        return answers

    def _hidden(self, seen: Tensor, kept: Tensor) -> Tensor:
        """The trunk's columns, or a learned constant where they are hidden."""
        shown = kept[:, None, None, None]
        return seen * shown + self.without_trunk[:, None, None] * (1.0 - shown)


def denoiser_of(architecture: DenoiserArchitecture, arrays: Arrays) -> DenoiserNetwork:
    """The network with copies of the weights, ready to play (``eval``), on the CPU."""
    return filled(empty(DenoiserNetwork, architecture), arrays)


def sizes_of_hands(sizes: Tensor) -> Tensor:
    """Planes ``[B, 3, 34]`` of the sizes of three hands, ``[B, 3]``, 14 tiles for 1."""
    return (sizes / 14.0)[..., None].expand(-1, -1, KINDS)


def _waves(times: Tensor) -> Tensor:
    """``[B, 16]`` sines and cosines of moments ``[B]`` from 0 to 1."""
    half = MOMENTS // 2
    speeds = _FASTEST ** (torch.arange(half, device=times.device) / (half - 1))
    angles = times[:, None] * speeds
    return torch.cat([angles.sin(), angles.cos()], 1)
