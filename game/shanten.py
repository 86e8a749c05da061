"""Distance of a hand from completion: shanten, waits and accepted tiles, exact, as compiled kernels.

For each suit a table gives the number of tiles missing for m sets with and without the pair, never counting
on a fifth copy; a hand's distance is the cheapest split of its sets and the pair over the suits. Concealed
tiles are ``hand34``: ``[34]`` int8 counts, 0-4 each, at most 14 in all; ``meld_count`` is the number of
melds.

A *row* is five 7-bit lanes, the tiles missing for 0-4 sets, with the top bit of every lane free, so that all
lanes are added and compared at once. A table entry is two rows in one number: without the pair (omitting the
first lane, which is always zero), then with it. Sets of kinds are bits of an int64 inside this module, of a
uint64 in its interface.

Source: the distance is that of github.com/tomohxx/shanten-number.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.shanten_table import HONOURS, LANE, load
from kit.jit import kernel, static_table, warms_up

NO_SHANTEN: Final = 99
"""Shanten of a discard that is not in the hand."""

_LANE_MASK: Final = (1 << LANE) - 1
_ROW: Final = (1 << 5 * LANE) - 1
_ONES: Final = sum(1 << LANE * lane for lane in range(5))
_GUARDS: Final = _ONES << LANE - 1
_FAR: Final = 31  # more than any hand is short of; sums with it still fit in a lane
_FAR_ROW: Final = _FAR * _ONES
_ORPHANS: Final = (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33)
_uint64: Final[Any] = np.uint64

_tables: Final = load()
_order: Final = static_table("shanten_order", _tables.order)
_offset: Final = static_table("shanten_offset", _tables.offset)
_missing: Final = static_table("shanten_missing", _tables.missing)


@kernel
def shanten(hand34: NDArray[np.int8], meld_count: int) -> int:
    """Tiles missing to tenpai over all forms: -1 complete, 0 tenpai.

    Accepts hands of 3n+1 and of 3n+2 tiles. Seven pairs and thirteen orphans count only without melds.
    """
    distance = shanten_normal(hand34, meld_count)
    if meld_count == 0:
        distance = min(distance, shanten_seven_pairs(hand34), shanten_thirteen_orphans(hand34))
    return distance


@kernel
def shanten_normal(hand34: NDArray[np.int8], meld_count: int) -> int:
    """Shanten towards four sets and a pair, melds counting as sets."""
    m, p, s, z = _entries(hand34)
    return _least(_join(_rows(m), _rows(p)), _join(_rows(s), _rows(z)), _sets(meld_count)) - 1


@kernel
def shanten_seven_pairs(hand34: NDArray[np.int8]) -> int:
    """Shanten towards seven different pairs."""
    kinds = 0
    pairs = 0
    for kind in range(34):
        kinds += hand34[kind] >= 1
        pairs += hand34[kind] >= 2
    return 6 - pairs + max(0, 7 - kinds)


@kernel
def shanten_thirteen_orphans(hand34: NDArray[np.int8]) -> int:
    """Shanten towards one of each terminal and honour and a second of one."""
    kinds = 0
    pair = 0
    for kind in _ORPHANS:
        kinds += hand34[kind] >= 1
        pair |= hand34[kind] >= 2
    return 13 - kinds - pair


@kernel
def waits(hand34: NDArray[np.int8], meld_count: int) -> int:
    """Kinds that complete a 3n+1 hand, one bit each (uint64); none unless it is tenpai.

    A kind with all four copies concealed in the hand is not a wait; copies in melds do not matter here.

    Source: Tenhou's rule that a hand waiting only on tiles it holds itself is not tenpai.
    """
    if shanten(hand34, meld_count) != 0:
        return _uint64(0)
    return _uint64(_accepted(hand34, meld_count)[1])


@kernel
def accepted(hand34: NDArray[np.int8], meld_count: int) -> tuple[int, int]:
    """Shanten of a 3n+1 hand, and the kinds that lower it, one bit each (uint64)."""
    distance, mask = _accepted(hand34, meld_count)
    return distance, _uint64(mask)


@kernel
def shanten_one_suit(hand34: NDArray[np.int8], meld_count: int) -> int:
    """`shanten_normal` in a game whose only tiles are characters and honours."""
    m, z = _rows(_entry(hand34, 0)), _rows(_entry(hand34, 27))
    return _least(m, z, _sets(meld_count)) - 1


@kernel
def accepted_one_suit(hand34: NDArray[np.int8], meld_count: int) -> tuple[int, int]:
    """`accepted` towards four sets and a pair, in a game whose only tiles are characters and honours."""
    m, z = _rows(_entry(hand34, 0)), _rows(_entry(hand34, 27))
    sets = _sets(meld_count)
    missing = _least(m, z, sets)
    mask = _accepted_of_suit(hand34, 0, _turned(z, sets), missing)
    mask |= _accepted_of_suit(hand34, 27, _turned(m, sets), missing)
    return missing - 1, _uint64(mask)


@kernel
def ukeire(hand34: NDArray[np.int8], meld_count: int, unseen34: NDArray[np.int8]) -> tuple[int, int, int]:
    """The tiles that improve a 3n+1 hand.

    Args:
        hand34: Concealed tiles.
        meld_count: Calls and kans.
        unseen34: ``[34]`` int8, copies of each kind the player cannot see.

    Returns:
        Shanten; the kinds that lower it, one bit each (uint64), whether or not a copy is left; their unseen
        copies.
    """
    distance, mask = _accepted(hand34, meld_count)
    copies = 0
    for kind in range(34):
        copies += ((mask >> kind) & 1) * unseen34[kind]
    return distance, _uint64(mask), copies


@kernel
def discard_table(
    hand34: NDArray[np.int8],
    meld_count: int,
    unseen34: NDArray[np.int8],
    out_shanten: NDArray[np.int8],
    out_mask: NDArray[np.uint64],
    out_copies: NDArray[np.int16],
) -> None:
    """`ukeire` after each discard from a 3n+2 hand; kinds not held get `NO_SHANTEN`, 0, 0.

    Args:
        hand34: Concealed tiles, not changed.
        meld_count: Calls and kans.
        unseen34: ``[34]`` int8, copies of each kind the player cannot see.
        out_shanten: ``[34]`` int8, filled.
        out_mask: ``[34]`` uint64, filled.
        out_copies: ``[34]`` int16, filled.
    """
    rest = hand34.copy()
    for kind in range(34):
        if hand34[kind] == 0:
            out_shanten[kind], out_mask[kind], out_copies[kind] = NO_SHANTEN, 0, 0
            continue
        rest[kind] -= 1
        out_shanten[kind], out_mask[kind], out_copies[kind] = ukeire(rest, meld_count, unseen34)
        rest[kind] += 1


@kernel
def missing_by_suit(hand34: NDArray[np.int8], out: NDArray[np.int64]) -> None:
    """Tiles that each suit alone is short of.

    Args:
        hand34: Concealed tiles.
        out: ``[4, 2, 5]`` int64, filled: tiles missing for 0-4 sets, without and with the pair; 31 if the
            suit cannot contain as many.
    """
    for suit, entry in enumerate(_entries(hand34)):
        for pair, row in enumerate(_rows(entry)):
            for sets in range(5):
                out[suit, pair, sets] = row >> sets * LANE & _LANE_MASK


@kernel
def _accepted(hand34: NDArray[np.int8], meld_count: int) -> tuple[int, int]:
    """Shanten, and the kinds that lower it."""
    distance, mask = _accepted_normal(hand34, meld_count)
    if meld_count == 0:
        pairs = shanten_seven_pairs(hand34)
        if pairs <= distance:
            mask = _accepted_seven_pairs(hand34) | (mask if pairs == distance else 0)
            distance = pairs
        orphans = shanten_thirteen_orphans(hand34)
        if orphans <= distance:
            mask = _accepted_thirteen_orphans(hand34) | (mask if orphans == distance else 0)
            distance = orphans
    return distance, mask


@kernel(inline="always")
def _accepted_seven_pairs(hand34: NDArray[np.int8]) -> int:
    kinds = 0
    single = 0
    absent = 0
    for kind in range(34):
        kinds += hand34[kind] >= 1
        single |= (hand34[kind] == 1) << kind
        absent |= (hand34[kind] == 0) << kind
    return single | absent if kinds < 7 else single


@kernel(inline="always")
def _accepted_thirteen_orphans(hand34: NDArray[np.int8]) -> int:
    wanted = 0
    absent = 0
    pair = False
    for kind in _ORPHANS:
        wanted |= 1 << kind
        absent |= (hand34[kind] == 0) << kind
        pair |= hand34[kind] >= 2
    return absent if pair else wanted


@kernel(inline="always")
def _accepted_normal(hand34: NDArray[np.int8], meld_count: int) -> tuple[int, int]:
    entry_m, entry_p, entry_s, entry_z = _entries(hand34)
    m, p, s, z = _rows(entry_m), _rows(entry_p), _rows(entry_s), _rows(entry_z)
    mp, sz = _join(m, p), _join(s, z)
    sets = _sets(meld_count)
    missing = _least(mp, sz, sets)
    mask = _accepted_of_suit(hand34, 0, _turned(_join(p, sz), sets), missing)
    mask |= _accepted_of_suit(hand34, 9, _turned(_join(m, sz), sets), missing)
    mask |= _accepted_of_suit(hand34, 18, _turned(_join(mp, z), sets), missing)
    mask |= _accepted_of_suit(hand34, 27, _turned(_join(mp, s), sets), missing)
    return missing - 1, mask


@kernel
def _accepted_of_suit(hand34: NDArray[np.int8], first: int, rest: tuple[int, int], missing: int) -> int:
    """Kinds of one suit whose next copy brings a hand closer; ``rest`` is the other suits, reversed."""
    low, high = _numbers(hand34, first)
    order, offset = _order(low), _offset(high)
    mask = 0
    step = 1
    # counts are capped as in `_numbers`: one more of an impossible count would read past the tables
    for kind in range(first, first + 5):
        if hand34[kind] & 7 < 4:
            entry = _missing(offset + _order(low + step))
            mask |= _is_less(entry, rest, missing) << kind
        step *= 5
    step = 1
    for kind in range(first + 5, min(first + 9, 34)):
        if hand34[kind] & 7 < 4:
            entry = _missing(_offset(high + step) + order)
            mask |= _is_less(entry, rest, missing) << kind
        step *= 5
    return mask


@kernel
def _is_less(entry: int, rest: tuple[int, int], missing: int) -> bool:
    """Whether a suit's entry and the rest of the hand together are short of fewer than ``missing`` tiles."""
    without, with_pair = _rows(entry)
    one = (without + rest[1] | _GUARDS) - missing * _ONES
    other = (with_pair + rest[0] | _GUARDS) - missing * _ONES
    return one & other & _GUARDS != _GUARDS


@kernel
def _entries(hand34: NDArray[np.int8]) -> tuple[int, int, int, int]:
    """Table entries of the four suits."""
    return _entry(hand34, 0), _entry(hand34, 9), _entry(hand34, 18), _entry(hand34, 27)


@kernel
def _entry(hand34: NDArray[np.int8], first: int) -> int:
    low, high = _numbers(hand34, first)
    return _missing(_offset(high) + _order(low))


@kernel
def _numbers(hand34: NDArray[np.int8], first: int) -> tuple[int, int]:
    """Low and high number of a suit's holding; impossible counts are capped to the size of the tables."""
    low = 0
    for place in range(4, -1, -1):
        low = 5 * low + (hand34[first + place] & 7)
    if first == 27:
        return low, HONOURS + 5 * (hand34[33] & 7) + (hand34[32] & 7)
    high = 0
    for place in range(8, 4, -1):
        high = 5 * high + (hand34[first + place] & 7)
    return low, high


@kernel
def _rows(entry: int) -> tuple[int, int]:
    """Rows without and with the pair."""
    return (entry << LANE) & _ROW, entry >> 4 * LANE


@kernel
def _sets(meld_count: int) -> int:
    return min(max(4 - meld_count, 0), 4)


@kernel
def _join(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """Rows of two groups of suits combined."""
    return _join_row(a[0], b[0]), _row_min(_join_row(a[0], b[1]), _join_row(a[1], b[0]))


@kernel
def _join_row(a: int, b: int) -> int:
    """Lane n of the result is the minimum over i of lane i of ``a`` plus lane n - i of ``b``."""
    best = a + (b & _LANE_MASK) * _ONES
    for _ in range(4):
        a = (a << LANE | _FAR) & _ROW
        b >>= LANE
        best = _row_min(best, a + (b & _LANE_MASK) * _ONES)
    return best


@kernel
def _row_min(x: int, y: int) -> int:
    """The minimum of each lane."""
    not_less = ((x | _GUARDS) - y) & _GUARDS
    return x ^ ((x ^ y) & (not_less - (not_less >> LANE - 1)))


@kernel
def _turned(rows: tuple[int, int], sets: int) -> tuple[int, int]:
    """Rows reversed: lane i has the tiles missing for ``sets`` - i sets, far below 0."""
    without, with_pair = rows
    turned0 = 0
    turned1 = 0
    for _ in range(5):
        turned0 = turned0 << LANE | (without & _LANE_MASK)
        turned1 = turned1 << LANE | (with_pair & _LANE_MASK)
        without >>= LANE
        with_pair >>= LANE
    spare = (4 - sets) * LANE
    far = (_FAR_ROW << (5 * LANE - spare)) & _ROW
    return turned0 >> spare | far, turned1 >> spare | far


@kernel
def _least(a: tuple[int, int], b: tuple[int, int], sets: int) -> int:
    """Tiles missing to ``sets`` sets and the pair, from the rows of both halves of a hand."""
    without, with_pair = _turned(b, sets)
    row = _row_min(a[0] + with_pair, a[1] + without)
    best = row & _LANE_MASK
    for lane in range(1, 5):
        best = min(best, row >> lane * LANE & _LANE_MASK)
    return best


@warms_up
def _warm_up() -> None:
    hand34 = np.zeros(34, np.int8)
    hand34[[0, 1]] = 1, 3
    shanten(hand34, 3)
    shanten_normal(hand34, 3)
    shanten_seven_pairs(hand34)
    shanten_thirteen_orphans(hand34)
    waits(hand34, 3)
    accepted(hand34, 3)
    shanten_one_suit(hand34, 3)
    accepted_one_suit(hand34, 3)
    ukeire(hand34, 3, hand34)
    missing_by_suit(hand34, np.zeros((4, 2, 5), np.int64))
    discard_table(hand34, 3, hand34, np.zeros(34, np.int8), np.zeros(34, np.uint64), np.zeros(34, np.int16))
