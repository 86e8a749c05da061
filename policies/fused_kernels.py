"""What `policies.fused` does between two products: bias, context, activation and windows.

Arrays are float32. ``B`` positions have 34 columns each. Columns lie on strips: one of all 34, or three of 9
(the suits) while the 7 honours stand alone; the strips' columns are the rows of ``[B * strips * length, …]``,
the lone honours those of ``[B * 7, …]``, which is empty if there are none.

Activations let NaN pass, so that a broken network is noticed.

Inner loops index whole axes or count unsigned: numba does not vectorise ``a[width + k]`` if the sum might be
negative. Views of rows are avoided too, because each costs more than the copy of a row.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.jit import kernel, warms_up
from policies.features.table import KINDS
from policies.towers.pooled import HONOURS, RANKS, SUITED, SUITS

_LANES: Final = 16
"""Sums side by side: numba does not reorder a sum of floats, so it would not vectorise one."""


@kernel
def columns_of_planes(planes: Any, by_suit: Any, out: Any, honours: Any) -> None:
    """Planes as one row of numbers from 0 to 255 a column.

    Args:
        planes: ``[B, C, 34]`` uint8.
        by_suit: first planes of the groups with a plane a suit, which each suit sees as its own, the larger
            and the smaller of the others, and honours in descending order.
        out: ``[B * strips * length, C]``, float32 or uint8, filled.
        honours: ``[B * 7, C]`` or empty, the same, filled.
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
                one = planes[b, first + (suit + 1) % SUITS, column]
                other = planes[b, first + (suit + 2) % SUITS, column]
                row[first] = planes[b, first + suit, column]
                row[first + 1] = max(one, other)
                row[first + 2] = min(one, other)
            for column in range(HONOURS):
                row = honours[b * HONOURS + column]
                row[first : first + SUITS] = np.sort(row[first : first + SUITS])[::-1]


@kernel
def begin(taps: Any, honours: Any, bias: Any, honour_bias: Any, length: int, x: Any) -> None:
    """The tower's first values, from what each column adds to its right neighbour, itself and its left one.

    Args:
        taps: ``[B * strips * length, 3, W]``.
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
            at, row = column % length, b * stripped + column
            for k in range(width):
                x[b, column, k] = taps[row, 1, k] + bias[k]
            if at > 0:
                for k in range(width):
                    x[b, column, k] += taps[row - 1, 0, k]
            if at < length - 1:
                for k in range(width):
                    x[b, column, k] += taps[row + 1, 2, k]
            for k in range(width):
                x[b, column, k] = relu(x[b, column, k])
        for column in range(stripped, KINDS):
            row = b * HONOURS + column - stripped
            for k in range(width):
                x[b, column, k] = relu(honours[row, k] + honour_bias[k])


@kernel
def spread(x: Any, length: int, windows: Any, honours: Any, suit_means: Any, means: Any) -> None:
    """Each column with its neighbours, for the next product, and the means of columns.

    Args:
        x: ``[B, 34, W]``.
        length: columns of a strip.
        windows: ``[B * strips * length, 3 * W]``, filled; 0 beyond the ends of a strip.
        honours: ``[B * 7, W]`` or empty, filled.
        suit_means: as for `pool`.
        means: as for `pool`.
    """
    batch, width = x.shape[0], x.shape[2]
    stripped = len(windows) // batch
    values = x.reshape(-1)
    for b in range(batch):
        pool(x, b, suit_means, means)
        open_windows(values, b * KINDS, windows, b * stripped, stripped, length, np.float32(0.0))
        for column in range(stripped, KINDS):
            for k in range(width):
                honours[b * HONOURS + column - stripped, k] = x[b, column, k]


@kernel
def pool(x: Any, b: int, suit_means: Any, means: Any) -> None:
    """Means of the columns of one position, if they are wanted.

    Args:
        x: ``[B, 34, W]``.
        b: the position.
        suit_means: ``[B * 3, W]``, its rows filled: the mean of each suit. Empty without pooled context.
        means: ``[B, 2 * W]``, its row filled: the mean of all suits, and of the honours.
    """
    if not len(suit_means):
        return
    width = np.uintp(x.shape[2])
    for k in range(means.shape[1]):
        means[b, k] = 0.0
    for suit in range(SUITS):
        row = b * SUITS + suit
        for k in range(width):
            suit_means[row, k] = 0.0
        for column in range(suit * RANKS, (suit + 1) * RANKS):
            for k in range(width):
                suit_means[row, k] += x[b, column, k]
        for k in range(width):
            suit_means[row, k] /= np.float32(RANKS)
            means[b, k] += suit_means[row, k] / np.float32(SUITS)
    for column in range(SUITED, KINDS):
        for k in range(width):
            means[b, width + k] += x[b, column, k] / np.float32(HONOURS)


@kernel
def activate(
    sums: Any,
    honours: Any,
    bias: Any,
    honour_bias: Any,
    of_suits: Any,
    of_all: Any,
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
        of_suits: ``[B, 3, W]``, what a suit's own mean adds to its columns.
        of_all: ``[B, 2, W]``, what the means of all suits and of the honours add to the columns of the suits,
            and to those of the honours.
        length: columns of a strip.
        windows: ``[B * strips * length, 3 * W]``, filled.
        next_honours: ``[B * 7, W]`` or empty, filled.
    """
    batch, width = len(of_all), sums.shape[1]
    stripped = len(sums) // batch
    context = np.empty((SUITS + 1, width), np.float32)
    for b in range(batch):
        join(of_suits, of_all, b, context)
        for column in range(stripped):
            row, group = b * stripped + column, column // RANKS
            for k in range(width):
                sums[row, k] = relu(sums[row, k] + bias[k] + context[group, k])
        for row in range(b * (KINDS - stripped), (b + 1) * (KINDS - stripped)):
            for k in range(width):
                next_honours[row, k] = relu(honours[row, k] + honour_bias[k] + context[SUITS, k])
    open_windows(sums.reshape(-1), 0, windows, 0, len(sums), length, np.float32(0.0))


@kernel
def join(of_suits: Any, of_all: Any, b: int, context: Any) -> None:
    """The parts of one position's pooled context together.

    Args:
        of_suits: ``[B, 3, W]``.
        of_all: ``[B, 2, W]``.
        b: the position.
        context: ``[4, W]``, filled: added to the columns of each suit, and to the honours.
    """
    for suit in range(SUITS):
        for k in range(context.shape[1]):
            context[suit, k] = of_suits[b, suit, k] + of_all[b, 0, k]
    for k in range(context.shape[1]):
        context[SUITS, k] = of_all[b, 1, k]


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
            row = b * stripped + column
            for k in range(width):
                x[b, column, k] = relu(x[b, column, k] + sums[row, k] + bias[k])
        for column in range(stripped, KINDS):
            row = b * HONOURS + column - stripped
            for k in range(width):
                x[b, column, k] = relu(x[b, column, k] + honours[row, k] + honour_bias[k])


@kernel
def scores(x: Any, weight: Any, bias: Any, out: Any) -> None:
    """One score for each column.

    Args:
        x: ``[B, 34, W]``.
        weight: ``[2, W]``: of columns on suits, and of honours.
        bias: ``[2]``.
        out: ``[B, 34]``, filled.
    """
    width = x.shape[2]
    whole = width - width % _LANES
    lanes = np.empty(_LANES, np.float32)
    for b in range(len(x)):
        for column in range(KINDS):
            part = int(column >= SUITED)
            lanes[:] = 0.0
            for first in range(0, whole, _LANES):
                for lane in range(_LANES):
                    lanes[lane] += x[b, column, first + lane] * weight[part, first + lane]
            total = bias[part]
            for k in range(whole, width):
                total += x[b, column, k] * weight[part, k]
            for lane in range(_LANES):
                total += lanes[lane]
            out[b, column] = total


@kernel(inline="always")
def relu(value: Any) -> Any:
    """The value, or 0 if it is negative; NaN stays."""
    return np.float32(0.0) if value < np.float32(0.0) else value


@kernel
def open_windows(
    values: Any, first: int, windows: Any, first_window: int, count: int, length: int, blank: Any
) -> None:
    """Copy columns with their neighbours, which lie beside them, into rows.

    Args:
        values: ``[…]``, columns of `width` numbers one after the other.
        first: the first column to copy.
        windows: ``[…, 3 * width]``.
        first_window: the row of the first column.
        count: number of columns, whole strips.
        length: columns of a strip.
        blank: what lies beyond the ends of a strip.
    """
    three, none = np.uintp(windows.shape[1]), np.uintp(0)
    width = three // np.uintp(3)
    for place in range(count):
        at, row = place % length, np.uintp(first_window + place)
        begin, end = none, three
        if at == 0:
            begin = width
            for k in range(width):
                windows[row, k] = blank
        if at == length - 1:
            end = np.uintp(2) * width
            for k in range(end, three):
                windows[row, k] = blank
        source = np.uintp(first + place) * width - width  # wraps around below 0, and back
        for k in range(begin, end):
            windows[row, k] = values[source + k]


@warms_up
def _warm_up() -> None:
    def floats(*shape: int) -> Any:
        return np.zeros(shape, np.float32)

    x, bias, honours = floats(1, KINDS, 1), floats(1), floats(HONOURS, 1)
    sums, windows = floats(SUITED, 1), floats(SUITED, 3)
    columns_of_planes(np.zeros((1, 3, KINDS), np.uint8), np.zeros(1, np.int64), windows, floats(HONOURS, 3))
    begin(floats(SUITED, 3, 1), honours, bias, bias, RANKS, x)
    spread(x, RANKS, windows, honours, floats(SUITS, 1), floats(1, 2))
    scores(x, floats(2, 1), floats(2), floats(1, KINDS))
    activate(sums, honours, bias, bias, floats(1, SUITS, 1), floats(1, 2, 1), RANKS, windows, honours)
    add(sums, honours, bias, bias, x)
