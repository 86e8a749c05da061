"""States with their tiles permuted, to compare their planes with permuted planes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from game.tiles import KINDS
from policies.features.permute import KIND_MAPS, permute_kinds

TILES = ("drawn", "last_tile", "indicators", "river", "meld_called", "meld_added", "meld_tiles")
KIND_SETS = ("kuikae", "river34", "safe34", "turn_safe34", "waits")
COUNTS = ("seen34", "hand34")


def permute_tiles(tiles136: ArrayLike, numbers: ArrayLike) -> NDArray[np.int16]:
    """Permute physical tiles (-1 for none), ``[N, ...]``; each copy keeps its index: red fives stay red."""
    tiles = np.asarray(tiles136, dtype=np.int16)
    return np.where(tiles < 0, tiles, 4 * permute_kinds(tiles >> 2, numbers).astype(np.int16) + (tiles & 3))


def permute_states(states: NDArray[Any], numbers: ArrayLike) -> NDArray[Any]:
    """Copies of ``[N]`` states with every tile permuted, the indicators too.

    Unlike in `permute_planes`, a mirrored indicator does not show the mirrored dora.
    """
    out = states.reshape(-1).copy()
    each = np.broadcast_to(numbers, len(out))
    kinds = KIND_MAPS[each].astype(np.intp)
    for field in TILES:
        out[field] = permute_tiles(out[field], each)
    for field in COUNTS:
        players = out[field].reshape(len(out), -1, KINDS)
        np.put_along_axis(players, np.broadcast_to(kinds[:, None], players.shape), players.copy(), axis=2)
        out[field] = players.reshape(out[field].shape)
    for field in KIND_SETS:
        bits = out[field][..., None] >> np.arange(KINDS, dtype=np.uint64) & np.uint64(1)
        moved = kinds.astype(np.uint64).reshape(len(out), *(1,) * (out[field].ndim - 1), KINDS)
        out[field] = (bits << moved).sum(axis=-1)
    tiles = permute_tiles(np.tile(np.arange(4 * KINDS), (len(out), 1)), each).astype(np.intp)
    where = np.empty_like(out["where"])
    np.put_along_axis(where, tiles, out["where"], axis=1)
    out["where"] = where
    out["meld_tiles"] = ascending(out["meld_tiles"])
    return out


def ascending(tiles: NDArray[np.int16]) -> NDArray[np.int16]:
    """The tiles of each meld in order, -1 last."""
    last = np.iinfo(np.int16).max
    ordered = np.sort(np.where(tiles < 0, last, tiles), axis=-1)
    return np.where(ordered == last, -1, ordered)
