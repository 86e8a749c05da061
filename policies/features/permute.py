"""Permutations of tiles: exchanges suits and mirrors 1 and 9 in planes and labels.

The rules treat all suits the same, so a state with its suits exchanged is as good an example as the original,
and there are six times as many. Mirroring breaks all-green, and indicators: the tile after the mirrored
indicator is not the mirrored dora. `permute_planes` moves the indicators so that they show the mirrored dora.
A state with its tiles mirrored cannot (that copy may be elsewhere), so groups whose column "mirrors" in
`docs/features.md` is "no" differ from its planes. For exchanged suits the two always agree.

A permutation is a number: 0 to 5 for the order of suits, plus 6 with the mirror. 0 changes nothing.
"""

from __future__ import annotations

import functools
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from game.scoring.dora import dora_of
from game.tiles import KINDS
from kit.jit import kernel, warms_up
from policies.features.table import LITE, SETS, Axis

PERMUTATIONS: Final = 12
SUIT_PERMUTATIONS: Final = 6
"""The permutations below this number leave 1 and 9 unchanged."""

Numbers = NDArray[np.int64]


def _kind_maps() -> NDArray[np.int8]:
    maps = []
    for mirror in (False, True):
        for order in permutations(range(3)):
            suited = [9 * order[k // 9] + (8 - k % 9 if mirror else k % 9) for k in range(27)]
            maps.append([*suited, *range(27, KINDS)])
    return np.array(maps, np.int8)


KIND_MAPS: Final = _kind_maps()
"""``[12, 34]`` int8: the new kind of each kind."""


@functools.cache
def _indicator_maps() -> NDArray[np.int8]:
    after = np.array([dora_of(kind) for kind in range(KINDS)])
    before = np.argsort(after)
    return np.array([before[each[after]] for each in KIND_MAPS], np.int8)


def permute_kinds(labels: ArrayLike, numbers: ArrayLike) -> NDArray[np.int8]:
    """Permute kinds (-1 for none).

    Args:
        labels: ``[N, ...]`` kinds.
        numbers: ``[N]`` permutations, or one for all.
    """
    kinds = np.asarray(labels)
    rows = _rows(numbers, kinds)
    return np.where(kinds < 0, kinds, KIND_MAPS[rows, kinds]).astype(np.int8)


def permute_columns(values: NDArray[Any], numbers: ArrayLike) -> NDArray[Any]:
    """Permute values by kind, ``[N, 34]``, such as a mask of legal discards."""
    out = np.empty_like(values)
    np.put_along_axis(out, KIND_MAPS[_numbers(numbers, len(values))].astype(np.intp), values, axis=1)
    return out


def permute_planes(
    planes: NDArray[np.uint8],
    feature_set: str,
    numbers: ArrayLike,
    out: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """The planes of permuted tiles, including indicators that show the mirrored dora.

    Args:
        planes: ``[N, C, 34]`` uint8 of one feature set.
        feature_set: Its name.
        numbers: ``[N]`` permutations, or one for all.
        out: array of the same shape, to fill; not ``planes`` itself.

    Returns:
        ``out``.
    """
    assert out is None or not np.shares_memory(planes, out)
    if out is None:
        out = np.empty_like(planes)
    sources, indicators = _PLANE_MAPS[feature_set]
    _permute_planes(
        np.require(planes, requirements=["C", "W"]),
        _numbers(numbers, len(planes)),
        sources,
        indicators,
        KIND_MAPS,
        _indicator_maps(),
        out,
    )
    return out


def _plane_maps(name: str) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    """``[12, C]`` the source of each plane, and ``[C]`` whether it is a plane of indicators."""
    chosen = SETS[name]
    sources = np.tile(np.arange(chosen.planes, dtype=np.int16), (PERMUTATIONS, 1))
    indicators = np.zeros(chosen.planes, np.bool_)
    for group in chosen.groups:
        at = chosen.at(group.id)
        indicators[at : at + group.planes] = group.axis is Axis.INDICATORS
        if group.axis is Axis.SUITS:
            for number, kinds in enumerate(KIND_MAPS):
                for suit in range(3):
                    sources[number, at + int(kinds[9 * suit]) // 9] = at + suit
    return sources, indicators


_PLANE_MAPS: Final = {name: _plane_maps(name) for name in SETS}


def _numbers(numbers: ArrayLike, count: int) -> Numbers:
    each = np.empty(count, np.int64)
    each[:] = numbers
    if count and not (each.min() >= 0 and each.max() < PERMUTATIONS):
        raise ValueError(f"permutations are numbers from 0 to {PERMUTATIONS - 1}")
    return each


def _rows(numbers: ArrayLike, like: NDArray[Any]) -> Numbers:
    """The permutation of every element of an array whose first axis has one each."""
    each = _numbers(numbers, len(like))
    return each.reshape(-1, *(1,) * (like.ndim - 1))


# --- the place of the called tile in a run, as Hosei's chi model answers ------------------------------------

_CALLED: Final = 1
_OWN: Final = slice(2, 4)
"""Columns of a call's row: the called tile, and the tiles of the hand that join it in a run."""
_RUN: Final = 3


def places_in_run(calls: NDArray[np.int16]) -> NDArray[np.int8]:
    """The place of the called tile, ``[N]``: 1, 2, 3 for the lowest, the middle, the highest of the run.

    Args:
        calls: ``[N, 6]`` chi as `game.rules.legal_rows` writes them.

    Source: Mizuguchi and Fujita, "Learning behavioral models of mahjong players with enhanced convolution",
    section 2.1.

    >>> from game.actions import Action, ActionKind
    >>> from game.rules import action_row
    >>> from game.tiles import parse_hand
    >>> called, *own = parse_hand("324m")
    >>> places_in_run(np.array([action_row(Action(ActionKind.CHI, called, tuple(own)))]))
    array([2], dtype=int8)
    """
    called, own = calls[:, _CALLED] >> 2, calls[:, _OWN] >> 2
    places: NDArray[np.int8] = 1 + (called[:, None] > own).sum(1, dtype=np.int8)
    return places


def mirrored_places(places: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The places, or 0, after permutations of the tiles: in a mirrored run the lowest tile is the highest.

    >>> mirrored_places(np.array([0, 1, 2, 3]), np.array([6]))
    array([0, 3, 2, 1])
    """
    swapped = (numbers >= SUIT_PERMUTATIONS) & (places > 0)
    return np.where(swapped, _RUN + 1 - places, places)


# --- kernels ----------------------------------------------------------------------------------------------


@kernel
def _permute_planes(
    planes: Any, numbers: Any, sources: Any, indicators: Any, kind_maps: Any, indicator_maps: Any, out: Any
) -> None:
    for row in range(len(planes)):
        number = numbers[row]
        for plane in range(planes.shape[1]):
            kinds = indicator_maps[number] if indicators[plane] else kind_maps[number]
            source = planes[row, sources[number, plane]]
            for kind in range(KINDS):
                out[row, plane, kinds[kind]] = source[kind]


@warms_up
def _warm_up() -> None:
    permute_planes(np.zeros((1, SETS[LITE].planes, KINDS), np.uint8), LITE, 1)
