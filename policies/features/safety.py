"""Planes of safe tiles and of unseen tiles (groups G and H)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold import bit
from game.jit import kernel
from game.layout import RIVER_RIICHI
from policies.features.draw import mark_counts, mark_mask
from policies.features.table import ONE

_NONE: Final = np.uint64(0)
_SAFETY_PLANES: Final = 6
_HONOURS: Final = 27


@kernel
def mark_safety(rec: Any, sight: Any, out: Any, at: int, unseen: int) -> None:
    """G and H."""
    me = int(sight.me)
    for seat in range(1, 4):
        _mark_opponent(rec, (me + seat) & 3, out, at + _SAFETY_PLANES * (seat - 1))
    for kind in range(_HONOURS):
        chance = _chance(sight.unseen34, kind)
        if chance < 2:
            out[at + 3 * _SAFETY_PLANES + chance, kind] = ONE
    mark_counts(out, unseen, sight.unseen34, 4)


@kernel
def _mark_opponent(rec: Any, player: int, out: Any, at: int) -> None:
    since_riichi = rec.safe34[player] if rec.riichi[player] == 2 else _NONE
    safe = rec.river34[player] | since_riichi
    mark_mask(out, at, rec.river34[player])
    mark_mask(out, at + 1, since_riichi)
    mark_mask(out, at + 2, rec.turn_safe34[player])
    for kind in range(_HONOURS):
        low, high = kind % 9 >= 3, kind % 9 <= 5
        below = low and safe & bit(kind - 3) != _NONE
        above = high and safe & bit(kind + 3) != _NONE
        if (below or not low) and (above or not high):
            out[at + 3, kind] = ONE
        elif below or above:
            out[at + 4, kind] = ONE
    for turn in range(rec.river_size[player]):
        if rec.river_marks[player, turn] & RIVER_RIICHI:
            _mark_suji_of(rec.river[player, turn] >> 2, out, at + 5)


@kernel
def _mark_suji_of(kind: int, out: Any, plane: int) -> None:
    if kind < _HONOURS:
        if kind % 9 >= 3:
            out[plane, kind - 3] = ONE
        if kind % 9 <= 5:
            out[plane, kind + 3] = ONE


@kernel
def _chance(unseen34: Any, kind: int) -> int:
    """The best two-sided wait on a kind: 0 no chance, 1 one chance, 2 more."""
    best = 0
    if kind % 9 >= 3:
        best = max(best, min(2, unseen34[kind - 1], unseen34[kind - 2]))
    if kind % 9 <= 5:
        best = max(best, min(2, unseen34[kind + 1], unseen34[kind + 2]))
    return best
