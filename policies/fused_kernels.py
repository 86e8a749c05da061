"""What `policies.fused` does between two products: bias, context, activation and windows.

Arrays are float32. ``B`` positions have 34 columns each. Columns lie on strips: one of all 34, or three of 9
(the suits) while the 7 honours stand alone; the strips' columns are the rows of ``[B * strips * length, …]``,
the lone honours those of ``[B * 7, …]``, which is empty if there are none.

Activations let NaN pass, so that a broken network is noticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from game.jit import kernel, warms_up
from policies.features.table import KINDS
from policies.towers.pooled import HONOURS, RANKS, SUITED, SUITS


@kernel
def columns_of_planes(planes: Any, by_suit: Any, out: Any, honours: Any) -> None:
    """Planes as one row of numbers from 0 to 255 a column.

    Args:
        planes: ``[B, C, 34]`` uint8.
        by_suit: first planes of the groups with a plane a suit, which each suit sees as its own, the larger
            and the smaller of the others, and honours in descending order.
        out: ``[B * strips * length, C]``, filled.
        honours: ``[B * 7, C]`` or empty, filled.
    """
    batch, channels = planes.shape[0], planes.shape[1]
    alone = len(honours) > 0
    stripped = SUITED if alone else KINDS
    for b in range(batch):
        for column in range(stripped):
            row = out[b * stripped + column]
            for plane in range(channels):
                row[plane] = planes[b, plane, column]
        if not alone:
            continue
        for column in range(HONOURS):
            row = honours[b * HONOURS + column]
            for plane in range(channels):
                row[plane] = planes[b, plane, SUITED + column]
        for first in by_suit:
            for column in range(SUITED):
                row, suit = out[b * stripped + column], column // RANKS
                one = np.float32(planes[b, first + (suit + 1) % SUITS, column])
                other = np.float32(planes[b, first + (suit + 2) % SUITS, column])
                row[first] = planes[b, first + suit, column]
                row[first + 1] = max(one, other)
                row[first + 2] = min(one, other)
            for column in range(HONOURS):
                row = honours[b * HONOURS + column]
                row[first : first + SUITS] = -np.sort(-row[first : first + SUITS])


@kernel
def begin(taps: Any, honours: Any, bias: Any, honour_bias: Any, length: int, x: Any) -> None:
    """The tower's first values, from what each column adds to its right neighbour, itself and its left one.

    Args:
        taps: ``[B * strips * length, 3 * W]``.
        honours: ``[B * 7, W]`` or empty.
        bias: ``[W]``.
        honour_bias: ``[W]``.
        length: columns of a strip.
        x: ``[B, 34, W]``, filled.
    """
    batch, width = x.shape[0], x.shape[2]
    stripped = len(taps) // batch
    for b in range(batch):
        for column in range(stripped):
            here, at, row = x[b, column], column % length, b * stripped + column
            for k in range(width):
                here[k] = taps[row, width + k] + bias[k]
            if at > 0:
                for k in range(width):
                    here[k] += taps[row - 1, k]
            if at < length - 1:
                for k in range(width):
                    here[k] += taps[row + 1, 2 * width + k]
            for k in range(width):
                here[k] = _relu(here[k])
        for column in range(KINDS - stripped):
            here, lone = x[b, stripped + column], honours[b * HONOURS + column]
            for k in range(width):
                here[k] = _relu(lone[k] + honour_bias[k])


@kernel
def spread(x: Any, length: int, windows: Any, honours: Any) -> None:
    """Each column with its neighbours, for the next product.

    Args:
        x: ``[B, 34, W]``.
        length: columns of a strip.
        windows: ``[B * strips * length, 3 * W]``, filled; 0 beyond the ends of a strip.
        honours: ``[B * 7, W]`` or empty, filled.
    """
    batch, width = x.shape[0], x.shape[2]
    stripped = len(windows) // batch
    for b in range(batch):
        for column in range(stripped):
            _put(x[b, column], windows, b * stripped + column, column % length, length)
        for column in range(KINDS - stripped):
            honours[b * HONOURS + column, :width] = x[b, stripped + column]


@kernel
def pool(x: Any, suits: Any, whole: Any) -> None:
    """Means of columns.

    Args:
        x: ``[B, 34, W]``.
        suits: ``[B * 3, W]``, filled: the mean of each suit.
        whole: ``[B, 2 * W]``, filled: the mean of all suits, then of the honours.
    """
    batch, width = x.shape[0], x.shape[2]
    for b in range(batch):
        whole[b] = 0.0
        for suit in range(SUITS):
            mean = suits[b * SUITS + suit]
            mean[:] = 0.0
            for column in range(suit * RANKS, (suit + 1) * RANKS):
                for k in range(width):
                    mean[k] += x[b, column, k]
            for k in range(width):
                mean[k] /= np.float32(RANKS)
                whole[b, k] += mean[k] / np.float32(SUITS)
        for column in range(SUITED, KINDS):
            for k in range(width):
                whole[b, width + k] += x[b, column, k] / np.float32(HONOURS)


@kernel
def activate(
    sums: Any,
    honours: Any,
    bias: Any,
    honour_bias: Any,
    own: Any,
    whole: Any,
    length: int,
    windows: Any,
    next_honours: Any,
) -> None:
    """Between a block's two products: bias, context and activation, spread for the second.

    Args:
        sums: ``[B * strips * length, W]``, overwritten.
        honours: ``[B * 7, W]`` or empty.
        bias: ``[W]``.
        honour_bias: ``[W]``.
        own: ``[B * 3, W]``, added to the columns of each suit; empty without context.
        whole: ``[B, 2 * W]``, added to the columns of all suits, then of the honours; empty without context.
        length: columns of a strip.
        windows: ``[B * strips * length, 3 * W]``, filled.
        next_honours: ``[B * 7, W]`` or empty, filled.
    """
    width = sums.shape[1]
    stripped = SUITED if len(honours) else KINDS
    for row in range(len(sums)):
        b, column, here = row // stripped, row % stripped, sums[row]
        for k in range(width):
            here[k] += bias[k]
        if len(whole):
            if column < SUITED:
                suit = own[b * SUITS + column // RANKS]
                for k in range(width):
                    here[k] += suit[k] + whole[b, k]
            else:
                for k in range(width):
                    here[k] += whole[b, width + k]
        for k in range(width):
            here[k] = _relu(here[k])
        _put(here, windows, row, column % length, length)
    for row in range(len(honours)):
        b = row // HONOURS
        for k in range(width):
            next_honours[row, k] = _relu(honours[row, k] + honour_bias[k] + whole[b, width + k])


@kernel
def add(sums: Any, honours: Any, bias: Any, honour_bias: Any, x: Any) -> None:
    """The end of a block: its change is added to what it began with.

    Args:
        sums: ``[B * strips * length, W]``.
        honours: ``[B * 7, W]`` or empty.
        bias: ``[W]``.
        honour_bias: ``[W]``.
        x: ``[B, 34, W]``, changed.
    """
    batch, width = x.shape[0], x.shape[2]
    stripped = len(sums) // batch
    for b in range(batch):
        for column in range(stripped):
            here, change = x[b, column], sums[b * stripped + column]
            for k in range(width):
                here[k] = _relu(here[k] + change[k] + bias[k])
        for column in range(KINDS - stripped):
            here, change = x[b, stripped + column], honours[b * HONOURS + column]
            for k in range(width):
                here[k] = _relu(here[k] + change[k] + honour_bias[k])


@kernel(inline="always")
def _relu(value: Any) -> Any:
    return np.float32(0.0) if value < np.float32(0.0) else value


@kernel(inline="always")
def _put(values: Any, windows: Any, row: int, at: int, length: int) -> None:
    """Write a column into its own window and those of its neighbours."""
    width = len(values)
    for k in range(width):
        windows[row, width + k] = values[k]
    if at > 0:
        for k in range(width):
            windows[row - 1, 2 * width + k] = values[k]
    else:
        for k in range(width):
            windows[row, k] = np.float32(0.0)
    if at < length - 1:
        for k in range(width):
            windows[row + 1, k] = values[k]
    else:
        for k in range(width):
            windows[row, 2 * width + k] = np.float32(0.0)


@warms_up
def _warm_up() -> None:
    def floats(*shape: int) -> Any:
        return np.zeros(shape, np.float32)

    x, bias, honours = floats(1, KINDS, 1), floats(1), floats(HONOURS, 1)
    sums, windows = floats(SUITED, 1), floats(SUITED, 3)
    columns_of_planes(np.zeros((1, 3, KINDS), np.uint8), np.zeros(1, np.int64), windows, floats(HONOURS, 3))
    begin(windows, honours, bias, bias, RANKS, x)
    spread(x, RANKS, windows, honours)
    pool(x, floats(SUITS, 1), floats(1, 2))
    activate(sums, honours, bias, bias, floats(SUITS, 1), floats(1, 2), RANKS, windows, honours)
    add(sums, honours, bias, bias, x)
