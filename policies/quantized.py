"""A fused network whose products multiply bytes, on processors with instructions for that.

A weight is a byte with a scale for its output channel. What a product takes has been through an activation,
so it is not negative: a byte counts steps of 1/255 of the largest value of its position. Neither needs
calibration, so any checkpoint can be played in bytes, and an answer still depends on its question only. Sums
of products are exact; the first layer, sums between blocks, pooled context and the head stay float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from policies import quantized_kernels as kernels
from policies.compute import Precision
from policies.fused import Floats, FusedContext, FusedNetwork, Layer, PairedLayer, PooledMeans
from policies.networks import Network
from policies.towers.residual import TAPS

_LARGEST: Final = 127
"""Of a weight's byte."""


def fused(network: Network, blank: Sequence[int], precision: Precision) -> FusedNetwork:
    """A network's fused form.

    Args:
        network: as trained; not changed.
        blank: planes of its input to ignore.
        precision: of the operands of its products.
    """
    if precision == "int8":
        return QuantizedNetwork(network, blank)
    return FusedNetwork(network, blank, precision)


class QuantizedNetwork(FusedNetwork):
    """Computes a network's logits for the encoder's planes, on a CPU with instructions for bytes.

    Args:
        network: as trained; not changed.
        blank: planes of its input to ignore.
    """

    def __init__(self, network: Network, blank: Sequence[int] = ()) -> None:
        super().__init__(network, blank)
        with torch.inference_mode():
            self._byte_blocks = [
                _ByteBlock(_BytePair.of(block.first), _BytePair.of(block.second), block.context)
                for block in self._blocks
            ]

    def _tower_of(self, x: Floats) -> None:
        batch, _, width = x.shape
        windows, honours = self._pair(batch, TAPS * width, np.int8)[0], self._pair(batch, width, np.int8)[1]
        sums, honour_sums = self._pair(batch, width, np.int32)
        scales = np.empty(batch, np.float32)
        pooled = PooledMeans(batch, width, self._blocks[0].context)
        of_columns = torch.from_numpy(windows), torch.from_numpy(sums)
        of_honours = torch.from_numpy(honours), torch.from_numpy(honour_sums)
        for block in self._byte_blocks:
            kernels.spread(x, self._length, windows, honours, scales, *pooled.means)
            first, second = block.first, block.second
            first.columns.multiply(*of_columns)
            first.honours.multiply(*of_honours)
            kernels.activate(
                sums,
                honour_sums,
                first.columns.terms,
                first.honours.terms,
                *pooled.said(block.context),
                self._length,
                scales,
                windows,
                honours,
            )
            second.columns.multiply(*of_columns)
            second.honours.multiply(*of_honours)
            kernels.add(sums, honour_sums, second.columns.terms, second.honours.terms, scales, x)


class _ByteLayer(NamedTuple):
    """``weight [inputs, outputs]`` int8, and what sums mean: ``terms [3, outputs]`` (`quantized_kernels`)."""

    weight: Tensor
    terms: Floats

    @classmethod
    def of(cls, layer: Layer) -> _ByteLayer:
        scale = layer.weight.abs().amax(0).clamp(min=torch.finfo(torch.float32).tiny) / _LARGEST
        weight = (layer.weight / scale).round()
        shift = -kernels.ZERO * weight.sum(0) * scale
        terms: Floats = torch.stack([scale, shift, layer.bias]).contiguous().numpy()
        return cls(weight.to(torch.int8).contiguous(), terms)

    def multiply(self, rows: Tensor, out: Tensor) -> None:
        """The product with the weight: int8 to int32."""
        if rows.shape[0]:
            torch._int_mm(rows, self.weight, out=out)


class _BytePair(NamedTuple):
    """A layer of the columns on strips, and one of the honours that stand alone."""

    columns: _ByteLayer
    honours: _ByteLayer

    @classmethod
    def of(cls, pair: PairedLayer) -> _BytePair:
        return cls(_ByteLayer.of(pair.columns), _ByteLayer.of(pair.honours))


class _ByteBlock(NamedTuple):
    """A residual block."""

    first: _BytePair
    second: _BytePair
    context: FusedContext | None
