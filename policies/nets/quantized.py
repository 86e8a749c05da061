"""A fused network whose products multiply bytes, on processors with instructions for that, and its kernels.

A weight is a byte with a scale for its output channel. What a product takes has been through an activation,
so it is not negative: a byte counts steps of 1/255 of the largest value of its position. Neither needs
calibration, so any checkpoint can be played in bytes, and an answer still depends on its question only. Sums
of products are exact; the first layer, sums between blocks, pooled context and the head stay float32.

Shapes of the kernels are those of `policies.nets.fused_kernels`. A value in a byte is a multiple of its
position's scale. Sums of products are int32, and ``terms`` ``[2, W]`` float32 say what they stand for:
``sum * terms[0] * scale + terms[1]``. A number that is not finite cannot be a byte, but it stays in ``x``, so
a broken network is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kit.jit import kernel, warms_up
from policies.features.table import KINDS
from policies.nets.architectures import HONOURS, RANKS, SUITED, SUITS, TAPS, Floats, Weights
from policies.nets.compute import Precision
from policies.nets.fused import FusedContext, FusedNetwork, PairedLayer, PooledMeans
from policies.nets.fused_kernels import join, open_windows, pool, relu
from policies.nets.products import Layer, multiply, packed

_LARGEST: Final = 255
"""The byte of the largest value; 0 is that of 0."""
_LARGEST_WEIGHT: Final = 127


@kernel
def unfold(x: Any, length: int, windows: Any, honours: Any, scales: Any, suit_means: Any, means: Any) -> None:
    """Each column as bytes with its neighbours, for the next product, and the means of columns.

    Args:
        x: ``[B, 34, W]``.
        length: columns of a strip.
        windows: ``[B * strips * length, 3 * W]`` uint8, filled; 0 beyond the ends of a strip.
        honours: ``[B * 7, W]`` uint8 or empty, filled.
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
    """Between a block's two products: bias, context and activation, unfolded for the second.

    Args:
        sums: ``[B * strips * length, W]`` int32.
        honours: ``[B * 7, W]`` int32 or empty.
        terms: ``[2, W]``.
        honour_terms: ``[2, W]``.
        of_suits: as for `policies.nets.fused_kernels.activate`.
        of_all: as for `policies.nets.fused_kernels.activate`.
        length: columns of a strip.
        scales: ``[B]`` of the first product's values; replaced by those of the second's.
        windows: ``[B * strips * length, 3 * W]`` uint8, filled.
        next_honours: ``[B * 7, W]`` uint8 or empty, filled.
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
                    value = np.float32(sums[row, k]) * terms[0, k] * scale + terms[1, k]
                    inner[column, k] = relu(value + context[group, k])
            else:
                row = b * HONOURS + column - stripped
                for k in range(width):
                    value = np.float32(honours[row, k]) * honour_terms[0, k] * scale + honour_terms[1, k]
                    inner[column, k] = relu(value + context[group, k])
        scales[b] = _to_bytes(inner.reshape(-1), columns)
        _lay_out(columns, b, stripped, length, windows, next_honours)


@kernel
def add(sums: Any, honours: Any, terms: Any, honour_terms: Any, scales: Any, x: Any) -> None:
    """The end of a block: its change is added to what it began with.

    Args:
        sums: ``[B * strips * length, W]`` int32.
        honours: ``[B * 7, W]`` int32 or empty.
        terms: ``[2, W]``.
        honour_terms: ``[2, W]``.
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
                change = np.float32(sums[row, k]) * terms[0, k] * scale + terms[1, k]
                x[b, column, k] = relu(x[b, column, k] + change)
        for column in range(stripped, KINDS):
            row = b * HONOURS + column - stripped
            for k in range(width):
                change = np.float32(honours[row, k]) * honour_terms[0, k] * scale + honour_terms[1, k]
                x[b, column, k] = relu(x[b, column, k] + change)


@kernel
def _to_bytes(values: Any, out: Any) -> Any:
    """Fill bytes with values that are not negative; returns their scale."""
    # The bits of such numbers are in the order of the numbers, and integers are compared many at a time.
    bits, most = values.view(np.int32), np.int32(0)
    for k in range(len(bits)):
        if bits[k] > most:  # noqa: PLR1730 - `max` takes twice the time
            most = bits[k]
    largest = np.full(1, most).view(np.float32)[0]
    factor = np.float32(_LARGEST) / largest if largest > 0 else np.float32(0.0)
    for k in range(len(values)):
        out[k] = np.uint8(values[k] * factor + np.float32(0.5))
    return largest / np.float32(_LARGEST)


@kernel
def _lay_out(columns: Any, b: int, stripped: int, length: int, windows: Any, honours: Any) -> None:
    width = len(columns) // KINDS
    open_windows(columns, 0, windows, b * stripped, stripped, length, np.uint8(0))
    for column in range(stripped, KINDS):
        for k in range(width):
            honours[b * HONOURS + column - stripped, k] = columns[column * width + k]


@warms_up
def _warm_up() -> None:
    x, terms = np.zeros((1, KINDS, 1), np.float32), np.zeros((2, 1), np.float32)
    sums, honours = np.zeros((SUITED, 1), np.int32), np.zeros((HONOURS, 1), np.int32)
    windows, next_honours = np.zeros((SUITED, 3), np.uint8), np.zeros((HONOURS, 1), np.uint8)
    scales, of_suits = np.zeros(1, np.float32), np.zeros((1, SUITS, 1), np.float32)
    of_all = np.zeros((1, 2, 1), np.float32)
    unfold(x, RANKS, windows, next_honours, scales, of_suits[0], of_all[:, :, 0])
    activate(sums, honours, terms, terms, of_suits, of_all, RANKS, scales, windows, next_honours)
    add(sums, honours, terms, terms, scales, x)


def fused(weights: Weights, blank: Sequence[int], precision: Precision) -> FusedNetwork:
    """A network's fused form.

    Args:
        weights: as trained; not changed.
        blank: planes of its input to ignore.
        precision: fp32 or int8.
    """
    return (QuantizedNetwork if precision == "int8" else FusedNetwork)(weights, blank)


class QuantizedNetwork(FusedNetwork):
    """Computes a network's logits for the encoder's planes, on a CPU with instructions for bytes.

    Args:
        weights: as trained; not changed.
        blank: planes of its input to ignore.
    """

    def __init__(self, weights: Weights, blank: Sequence[int] = ()) -> None:
        super().__init__(weights, blank)
        self._byte_blocks = [
            _ByteBlock(_BytePair.of(block.first), _BytePair.of(block.second), block.context)
            for block in self._blocks
        ]

    def _tower_of(self, x: Floats) -> None:
        batch, _, width = x.shape
        windows, honours = self._pair(batch, TAPS * width, np.uint8)[0], self._pair(batch, width, np.uint8)[1]
        sums, honour_sums = self._pair(batch, width, np.int32)
        scales = np.empty(batch, np.float32)
        pooled = PooledMeans(batch, width, self._blocks[0].context)
        for block in self._byte_blocks:
            unfold(x, self._length, windows, honours, scales, *pooled.means)
            first, second = block.first, block.second
            first.columns.multiply(windows, sums)
            first.honours.multiply(honours, honour_sums)
            activate(
                sums,
                honour_sums,
                first.columns.terms,
                first.honours.terms,
                *pooled.added_by(block.context),
                self._length,
                scales,
                windows,
                honours,
            )
            second.columns.multiply(windows, sums)
            second.honours.multiply(honours, honour_sums)
            add(sums, honour_sums, second.columns.terms, second.honours.terms, scales, x)


class _ByteLayer(NamedTuple):
    """A `packed` weight, and what sums mean: ``terms [2, outputs]`` (as for `activate`)."""

    weight: NDArray[np.int8]
    terms: Floats

    @classmethod
    def of(cls, layer: Layer) -> _ByteLayer:
        weight = layer.weight
        scale = np.maximum(np.abs(weight).max(0), np.finfo(np.float32).tiny) / np.float32(_LARGEST_WEIGHT)
        with np.errstate(invalid="ignore"):  # a number that is not finite stays in the scale
            of_bytes = np.rint(weight / scale).astype(np.int8)
        return cls(packed(of_bytes), np.stack([scale, layer.bias]))

    def multiply(self, rows: NDArray[np.uint8], out: NDArray[np.int32]) -> None:
        """The product with the weight."""
        multiply(rows, self.weight, out)


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
