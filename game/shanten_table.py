"""The table behind `game.shanten`: tiles missing for sets and the pair, for every holding in one suit.

A holding of a suit is two numbers, *low* for its first five kinds and *high* for the rest, one digit in base
five for the count of each kind. Low numbers are ranked by their tile count, so that those that fit into one
hand with a high number come first: ``offset[high] + order[low]`` then numbers holdings without gaps.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from kit.cache import cache_folder, prune, read_checked, write_checked
from kit.fingerprint import fingerprint

LANE: Final = 7
"""Bits of a lane: one number of missing tiles and a free bit."""
HONOURS: Final = 7 * 156 + 1
"""Where high numbers of honours start in ``offset``; those of suits are below, even with counts of 7."""

_LOW_KINDS: Final = 5
_LOWS: Final = 5**_LOW_KINDS
_MOST_TILES: Final = 14
_LANES: Final = 9
_UNKNOWN: Final = 31
_HOLDINGS: Final = 405_350 + 43_130  # of at most 14 tiles, in a suit and in honours


class Tables(msgspec.Struct, frozen=True):
    """Arrays that kernels read.

    A holding with impossible counts (up to 7 each) reads a wrong entry, but never out of bounds.

    Attributes:
        order: ``[5468]`` int16, by low number.
        offset: ``[1136]`` int32, by high number, honours from `HONOURS`.
        missing: int64 entries of nine lanes: tiles missing for 1, 2, 3, 4 sets, then for the pair with
            0, 1, 2, 3, 4 sets.
    """

    order: NDArray[np.int16]
    offset: NDArray[np.int32]
    missing: NDArray[np.int64]


def load() -> Tables:
    """The tables, loaded from the cache if possible."""
    path = cache_folder() / "tables" / f"shanten-{fingerprint(_missing)}.bin"
    order, offset, ranked = _numbering()
    data = read_checked(path)
    if data is None or len(data) != 8 * (_HOLDINGS + _LOWS):
        data = _missing(offset, ranked).tobytes()
        if write_checked(path, data):
            prune(path)
    return Tables(order, offset, np.frombuffer(data, np.int64))


def _numbering() -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int64]]:
    """``order``, ``offset``, and the low numbers by rank."""
    tiles = _digit_sums(_LOW_KINDS)
    ranked = np.argsort(tiles, kind="stable")
    order = np.zeros(7 * 781 + 1, np.int16)
    order[ranked] = np.arange(_LOWS)
    offset = np.zeros(HONOURS + 7 * 6 + 1, np.int32)
    end = 0
    for start, kinds in ((0, 4), (HONOURS, 2)):
        sizes = _row_sizes(kinds)
        offset[start : start + len(sizes)] = end + np.cumsum(sizes) - sizes
        end += int(sizes.sum())
    return order, offset, ranked


def _row_sizes(high_kinds: int) -> NDArray[np.int64]:
    """For each high number, how many low numbers fit with it into one hand."""
    lows = np.sort(_digit_sums(_LOW_KINDS))
    return np.searchsorted(lows, _MOST_TILES - _digit_sums(high_kinds), side="right")


def _digit_sums(digits: int) -> NDArray[np.int64]:
    sums = np.zeros(1, np.int64)
    for _ in range(digits):
        sums = np.add.outer(np.arange(5), sums).ravel()
    return sums


def _missing(offset: NDArray[np.int32], ranked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compute ``missing``, padded with as many zeros as a wrong low number can reach past it."""
    table = np.zeros(_HOLDINGS + _LOWS, np.int64)
    for start, kinds, runs in ((0, 4, 7), (HONOURS, 2, 0)):
        by_code = _distances(_LOW_KINDS + kinds, runs)
        for high, size in enumerate(_row_sizes(kinds)):
            codes = high * _LOWS + ranked[:size]
            row = table[offset[start + high] :][:size]
            for lane in range(_LANES):
                row |= by_code[lane, codes].astype(np.int64) << LANE * lane
    return table


def _distances(kinds: int, runs: int) -> NDArray[np.uint8]:
    """Tiles missing by lane and by code, the code being a holding's digits as one number."""
    missing = np.full((_LANES, 5**kinds), _UNKNOWN, np.uint8)
    _mark_complete(missing, kinds, runs)
    views = [missing.reshape(-1, 5, 5**kind) for kind in range(kinds)]
    for view in views:  # adding a tile costs one
        for count in (3, 2, 1, 0):
            np.minimum(view[:, count], view[:, count + 1] + np.uint8(1), out=view[:, count])
    for view in views:  # leaving a tile unused is free
        for count in (1, 2, 3, 4):
            np.minimum(view[:, count], view[:, count - 1], out=view[:, count])
    return missing


def _mark_complete(missing: NDArray[np.uint8], kinds: int, runs: int) -> None:
    """Mark the holdings that consist only of sets and possibly the pair: nothing is missing."""
    unit = np.eye(kinds, dtype=np.int64)
    run = unit[:runs] + unit[1 : runs + 1] + unit[2 : runs + 2] if runs else unit[:0]
    nothing = np.zeros((1, kinds), np.int64)
    pieces = np.concatenate([nothing, 3 * unit, run])
    pairs = np.concatenate([nothing, 2 * unit])
    chosen = np.array(list(combinations_with_replacement(range(len(pieces)), 4)))
    counts = pieces[chosen].sum(axis=1)[:, None] + pairs
    lanes = (chosen > 0).sum(axis=1)[:, None] + np.where(np.arange(kinds + 1) > 0, 4, -1)
    real = (counts.max(axis=2) <= 4) & (lanes >= 0)
    missing[lanes[real], counts[real] @ 5 ** np.arange(kinds)] = 0
