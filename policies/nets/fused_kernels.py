"""The kernels of `policies.nets.fused` between two products: bias, context, activation and windows.

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

from kit.jit import kernel, warms_up
from policies.features.table import KINDS
from policies.nets.architectures import HONOURS, RANKS, SUITED, SUITS

_AT_ONCE: Final = 4
"""Rows of weights added in one pass, so that sums are read and written less often."""
_LANES: Final = 16
"""Sums side by side: numba does not reorder a sum of floats, so it would not vectorise one."""


@kernel
def first_layer(
    planes: Any,
    blank: Any,
    by_suit: Any,
    weight: Any,
    honour_weight: Any,
    bias: Any,
    honour_bias: Any,
    length: int,
    x: Any,
) -> None:
    """The tower's first values.

    Most numbers of planes are 0, so only the others are multiplied, and a plane with one number in all
    columns once for all of them.

    Args:
        planes: ``[B, C, 34]`` uint8.
        blank: planes to ignore, as each column sees them.
        by_suit: first planes of the groups with a plane a suit, which each suit sees as its own, the larger
            and the smaller of the others, and honours in descending order.
        weight: ``[C, 3 * W]``, of what a column adds to its right neighbour, itself and its left one.
        honour_weight: ``[C, W]``; not used if all columns lie on one strip.
        bias: ``[W]``.
        honour_bias: ``[W]``.
        length: columns of a strip.
        x: ``[B, 34, W]``, filled.
    """
    batch, channels, width = planes.shape[0], planes.shape[1], np.uintp(x.shape[2])
    stripped = SUITED if length < KINDS else KINDS
    seen = np.empty((channels, KINDS), np.uint8)
    # for each column, and last for all of them together
    counts, places = np.empty(KINDS + 1, np.int64), np.empty((KINDS + 1, channels), np.int64)
    numbers = np.empty((KINDS + 1, channels), np.float32)
    taps = np.empty((KINDS + 1, weight.shape[1]), np.float32)
    alone = np.empty((KINDS + 1, x.shape[2]), np.float32)
    for b in range(batch):
        _copy(planes[b], seen)
        for first in by_suit:
            _show_suits(planes, b, first, seen)
        for plane in blank:
            seen[plane] = 0
        _collect(seen, counts, places, numbers)
        taps[:] = 0.0
        for column in range(stripped):
            _multiply(counts, places, numbers, column, weight, taps)
        _multiply(counts, places, numbers, KINDS, weight, taps)
        for column in range(stripped):
            at, after = column % length, np.uintp(column + 1)
            for k in range(width):
                x[b, column, k] = taps[column, width + k] + taps[KINDS, width + k] + bias[k]
            if at > 0:
                for k in range(width):
                    x[b, column, k] += taps[column - 1, k] + taps[KINDS, k]
            if at < length - 1:
                third = width + width
                for k in range(width):
                    x[b, column, k] += taps[after, third + k] + taps[KINDS, third + k]
            for k in range(width):
                x[b, column, k] = relu(x[b, column, k])
        if stripped == KINDS:
            continue
        alone[:] = 0.0
        for column in range(stripped, KINDS + 1):
            _multiply(counts, places, numbers, column, honour_weight, alone)
        for column in range(stripped, KINDS):
            for k in range(width):
                x[b, column, k] = relu(alone[column, k] + alone[KINDS, k] + honour_bias[k])


@kernel
def _copy(planes: Any, seen: Any) -> None:
    source, target = planes.reshape(-1), seen.reshape(-1)
    for k in range(np.uintp(len(source))):  # an assignment of the whole is not vectorised
        target[k] = source[k]


@kernel
def _show_suits(planes: Any, b: int, first: int, seen: Any) -> None:
    """Fill a group with a plane a suit as each column sees it."""
    for column in range(SUITED):
        suit = column // RANKS
        one = planes[b, first + (suit + 1) % SUITS, column]
        other = planes[b, first + (suit + 2) % SUITS, column]
        seen[first, column] = planes[b, first + suit, column]
        seen[first + 1, column] = max(one, other)
        seen[first + 2, column] = min(one, other)
    for column in range(SUITED, KINDS):
        one, two = int(planes[b, first, column]), int(planes[b, first + 1, column])
        three = int(planes[b, first + 2, column])
        most, least = max(one, two, three), min(one, two, three)
        seen[first, column] = most
        seen[first + 1, column] = one + two + three - most - least
        seen[first + 2, column] = least


@kernel
def _collect(planes: Any, counts: Any, places: Any, numbers: Any) -> None:
    """List the numbers of planes that are not 0, and the planes they are in.

    Args:
        planes: ``[C, 34]`` uint8.
        counts: ``[35]``, filled: how many each column has, and how many planes have one number everywhere.
        places: ``[35, C]``, filled.
        numbers: ``[35, C]``, filled.
    """
    pairs, half = planes.reshape(-1).view(np.uint16), np.uintp(KINDS // 2)
    counts[:] = 0
    for plane in range(len(planes)):
        start, differences, number = np.uintp(plane) * half, np.uint16(0), planes[plane, 0]
        for k in range(half):
            differences |= pairs[start + k] ^ pairs[start]
        if differences or planes[plane, 1] != number:
            for column in range(KINDS):
                if planes[plane, column]:
                    _list(plane, planes[plane, column], column, counts, places, numbers)
        elif number:
            _list(plane, number, KINDS, counts, places, numbers)


@kernel(inline="always")
def _list(plane: Any, number: Any, column: Any, counts: Any, places: Any, numbers: Any) -> None:
    count = counts[column]
    places[column, count], numbers[column, count] = plane, number
    counts[column] = count + 1


@kernel
def _multiply(counts: Any, places: Any, numbers: Any, column: int, weight: Any, out: Any) -> None:
    """Add a column's numbers, times the weights of their planes, to its row of ``out``."""
    row, count, outputs = np.uintp(column), counts[column], np.uintp(out.shape[1])
    whole = count - count % _AT_ONCE
    for i in range(0, whole, _AT_ONCE):
        one, two = np.uintp(places[row, i]), np.uintp(places[row, i + 1])
        three, four = np.uintp(places[row, i + 2]), np.uintp(places[row, i + 3])
        by_one, by_two, by_three, by_four = (
            numbers[row, i],
            numbers[row, i + 1],
            numbers[row, i + 2],
            numbers[row, i + 3],
        )
        for k in range(outputs):
            out[row, k] += (
                by_one * weight[one, k]
                + by_two * weight[two, k]
                + by_three * weight[three, k]
                + by_four * weight[four, k]
            )
    for i in range(whole, count):
        last, number = np.uintp(places[row, i]), numbers[row, i]
        for k in range(outputs):
            out[row, k] += number * weight[last, k]


@kernel
def unfold(x: Any, length: int, windows: Any, honours: Any, suit_means: Any, means: Any) -> None:
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
    """Between a block's two products: bias, context and activation, unfolded for the second.

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
    first_layer(
        np.zeros((1, 3, KINDS), np.uint8),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        floats(3, 3),
        floats(3, 1),
        bias,
        bias,
        RANKS,
        x,
    )
    unfold(x, RANKS, windows, honours, floats(SUITS, 1), floats(1, 2))
    scores(x, floats(2, 1), floats(2), floats(1, KINDS))
    activate(sums, honours, bias, bias, floats(1, SUITS, 1), floats(1, 2, 1), RANKS, windows, honours)
    add(sums, honours, bias, bias, x)
