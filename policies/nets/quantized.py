"""A fused network whose products multiply bytes, on processors with instructions for that, and its kernels.

A weight is a byte with a scale for its output channel. What a product takes has been through an activation,
so it is not negative: a byte counts steps of 1/255 of the largest value of its position. Neither needs
calibration, so any checkpoint can be played in bytes, and an answer still depends on its question only. Sums
of products are exact; the first layer, sums between blocks, pooled context and the head stay float32.

Shapes of the kernels are those of `policies.nets.fused_kernels`. A value in a byte is a multiple of its
position's scale, from 0 at -128 to 255 at 127. Sums of products are int32, and ``terms`` ``[3, W]`` float32
say what they stand for: ``(sum * terms[0] + terms[1]) * scale + terms[2]``. A number that is not finite
cannot be a byte, but it stays in ``x``, so a broken network is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from kit.jit import kernel, warms_up
from policies.features.table import KINDS
from policies.nets.compute import Precision
from policies.nets.fused import Floats, FusedContext, FusedNetwork, Layer, PairedLayer, PooledMeans
from policies.nets.fused_kernels import join, open_windows, pool, relu
from policies.nets.networks import Network
from policies.nets.towers.residual import HONOURS, RANKS, SUITED, SUITS, TAPS

ZERO: Final = -128
"""The byte of the smallest value."""
STEPS: Final = 255
"""Steps from the smallest value to the largest."""


@kernel
def spread(x: Any, length: int, windows: Any, honours: Any, scales: Any, suit_means: Any, means: Any) -> None:
    """Each column as bytes with its neighbours, for the next product, and the means of columns.

    Args:
        x: ``[B, 34, W]``.
        length: columns of a strip.
        windows: ``[B * strips * length, 3 * W]`` int8, filled; the byte of 0 beyond the ends of a strip.
        honours: ``[B * 7, W]`` int8 or empty, filled.
        scales: ``[B]``, filled.
        suit_means: as for `policies.nets.fused_kernels.pool`.
        means: as for `policies.nets.fused_kernels.pool`.
    """
    stripped = len(windows) // len(x)
    columns = np.empty(x.shape[1] * x.shape[2], np.uint8)
    for b in range(len(x)):
        pool(x, b, suit_means, means)
        scales[b] = _to_bytes(x[b].reshape(-1), columns)
        _lay_out(columns, b, stripped, length, windows, honours)


@kernel
def activate(
    sums: Any,
    honours: Any,
    terms: Any,
    honour_terms: Any,
    of_suits: Any,
    of_all: Any,
    length: int,
    scales: Any,
    windows: Any,
    next_honours: Any,
) -> None:
    """Between a block's two products: bias, context and activation, spread for the second.

    Args:
        sums: ``[B * strips * length, W]`` int32.
        honours: ``[B * 7, W]`` int32 or empty.
        terms: ``[3, W]``.
        honour_terms: ``[3, W]``.
        of_suits: as for `policies.nets.fused_kernels.activate`.
        of_all: as for `policies.nets.fused_kernels.activate`.
        length: columns of a strip.
        scales: ``[B]`` of the first product's values; replaced by those of the second's.
        windows: ``[B * strips * length, 3 * W]`` int8, filled.
        next_honours: ``[B * 7, W]`` int8 or empty, filled.
    """
    batch, width = len(scales), sums.shape[1]
    stripped = len(sums) // batch
    inner = np.empty((KINDS, width), np.float32)
    context = np.empty((SUITS + 1, width), np.float32)
    columns = np.empty(KINDS * width, np.uint8)
    for b in range(batch):
        scale = scales[b]
        join(of_suits, of_all, b, context)
        for column in range(KINDS):
            group = column // RANKS
            if column < stripped:
                row = b * stripped + column
                for k in range(width):
                    value = (np.float32(sums[row, k]) * terms[0, k] + terms[1, k]) * scale + terms[2, k]
                    inner[column, k] = relu(value + context[group, k])
            else:
                row = b * HONOURS + column - stripped
                for k in range(width):
                    value = (np.float32(honours[row, k]) * honour_terms[0, k] + honour_terms[1, k]) * scale
                    inner[column, k] = relu(value + honour_terms[2, k] + context[group, k])
        scales[b] = _to_bytes(inner.reshape(-1), columns)
        _lay_out(columns, b, stripped, length, windows, next_honours)


@kernel
def add(sums: Any, honours: Any, terms: Any, honour_terms: Any, scales: Any, x: Any) -> None:
    """The end of a block: its change is added to what it began with.

    Args:
        sums: ``[B * strips * length, W]`` int32.
        honours: ``[B * 7, W]`` int32 or empty.
        terms: ``[3, W]``.
        honour_terms: ``[3, W]``.
        scales: ``[B]``.
        x: ``[B, 34, W]``, changed.
    """
    batch, width = x.shape[0], x.shape[2]
    stripped = len(sums) // batch
    for b in range(batch):
        scale = scales[b]
        for column in range(stripped):
            row = b * stripped + column
            for k in range(width):
                change = (np.float32(sums[row, k]) * terms[0, k] + terms[1, k]) * scale + terms[2, k]
                x[b, column, k] = relu(x[b, column, k] + change)
        for column in range(stripped, KINDS):
            row = b * HONOURS + column - stripped
            for k in range(width):
                change = (np.float32(honours[row, k]) * honour_terms[0, k] + honour_terms[1, k]) * scale
                x[b, column, k] = relu(x[b, column, k] + change + honour_terms[2, k])


@kernel
def _to_bytes(values: Any, out: Any) -> Any:
    """Fill bytes with values that are not negative; returns their scale."""
    # The bits of such numbers are in the order of the numbers, and integers are compared many at a time.
    bits, most = values.view(np.int32), np.int32(0)
    for k in range(len(bits)):
        if bits[k] > most:  # noqa: PLR1730 - `max` takes twice the time
            most = bits[k]
    largest = np.full(1, most).view(np.float32)[0]
    factor = np.float32(STEPS) / largest if largest > 0 else np.float32(0.0)
    for k in range(len(values)):
        out[k] = np.uint8(values[k] * factor + np.float32(0.5))
    for k in range(len(out)):
        out[k] ^= np.uint8(-ZERO)
    return largest / np.float32(STEPS)


@kernel
def _lay_out(columns: Any, b: int, stripped: int, length: int, windows: Any, honours: Any) -> None:
    width = len(columns) // KINDS
    columns = columns.view(np.int8)
    open_windows(columns, 0, windows, b * stripped, stripped, length, np.int8(ZERO))
    for column in range(stripped, KINDS):
        for k in range(width):
            honours[b * HONOURS + column - stripped, k] = columns[column * width + k]


@warms_up
def _warm_up() -> None:
    x, terms = np.zeros((1, KINDS, 1), np.float32), np.zeros((3, 1), np.float32)
    sums, honours = np.zeros((SUITED, 1), np.int32), np.zeros((HONOURS, 1), np.int32)
    windows, next_honours = np.zeros((SUITED, 3), np.int8), np.zeros((HONOURS, 1), np.int8)
    scales, of_suits = np.zeros(1, np.float32), np.zeros((1, SUITS, 1), np.float32)
    of_all = np.zeros((1, 2, 1), np.float32)
    spread(x, RANKS, windows, next_honours, scales, of_suits[0], of_all[:, :, 0])
    activate(sums, honours, terms, terms, of_suits, of_all, RANKS, scales, windows, next_honours)
    add(sums, honours, terms, terms, scales, x)


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
            spread(x, self._length, windows, honours, scales, *pooled.means)
            first, second = block.first, block.second
            first.columns.multiply(*of_columns)
            first.honours.multiply(*of_honours)
            activate(
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
            add(sums, honour_sums, second.columns.terms, second.honours.terms, scales, x)


class _ByteLayer(NamedTuple):
    """``weight [inputs, outputs]`` int8, and what sums mean: ``terms [3, outputs]`` (as for `activate`)."""

    weight: Tensor
    terms: Floats

    @classmethod
    def of(cls, layer: Layer) -> _ByteLayer:
        scale = layer.weight.abs().amax(0).clamp(min=torch.finfo(torch.float32).tiny) / _LARGEST
        weight = (layer.weight / scale).round()
        shift = -ZERO * weight.sum(0) * scale
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
