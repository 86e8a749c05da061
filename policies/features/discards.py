"""Planes of discards, safe and unseen tiles (groups D to H)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import bit
from game.layout import RIVER_CALLED, RIVER_MAX, RIVER_RIICHI, RIVER_TSUMOGIRI
from game.scoring.dora import is_red
from kit.jit import kernel
from policies.features.draw import add_one, mark_counts, mark_mask
from policies.features.table import DISCARD_TURNS, LITE_DISCARDS, ONE

_SUMMARY_PLANES: Final = 9
_RECENCY_PLANES: Final = 3
_RECENCY: Final = np.rint(ONE * np.exp(-0.2 * np.arange(RIVER_MAX))).astype(np.int64)


@kernel
def mark_rivers(rec: Any, me: int, out: Any, at: int) -> None:
    """D of the full set: discard by discard."""
    for seat in range(4):
        player = (me + seat) & 3
        for turn in range(min(int(rec.river_size[player]), DISCARD_TURNS)):
            plane = at + 2 * (DISCARD_TURNS * seat + turn)
            kind = rec.river[player, turn] >> 2
            out[plane, kind] = ONE
            if not rec.river_marks[player, turn] & RIVER_TSUMOGIRI:
                out[plane + 1, kind] = ONE


@kernel
def mark_last_discards(rec: Any, me: int, out: Any, at: int) -> None:
    """D of the lite set: each seat's last four."""
    for seat in range(4):
        player = (me + seat) & 3
        size = int(rec.river_size[player])
        for age in range(min(size, LITE_DISCARDS)):
            out[at + LITE_DISCARDS * seat + age, rec.river[player, size - 1 - age] >> 2] = ONE


@kernel
def mark_discard_sums(rec: Any, me: int, out: Any, summary: int, recency: int) -> None:
    """E and F."""
    for seat in range(4):
        player = (me + seat) & 3
        at = summary + _SUMMARY_PLANES * seat
        decay = recency + _RECENCY_PLANES * seat
        size = int(rec.river_size[player])
        in_riichi = False
        for turn in range(size):
            tile = rec.river[player, turn]
            marks = rec.river_marks[player, turn]
            kind = tile >> 2
            add_one(out, at, kind, 4)
            from_hand = not marks & RIVER_TSUMOGIRI
            out[at + (4 if from_hand else 5), kind] = ONE
            if marks & RIVER_RIICHI:
                in_riichi = True
                out[at + 6, kind] = ONE
            if marks & RIVER_CALLED:
                out[at + 7, kind] = ONE
            if is_red(tile):
                out[at + 8, kind] = ONE
            weight = _RECENCY[size - 1 - turn]
            _add(out, decay, kind, weight)
            if from_hand:
                _add(out, decay + 1, kind, weight)
            if in_riichi:
                _add(out, decay + 2, kind, weight)


@kernel
def _add(out: Any, plane: int, kind: int, weight: int) -> None:
    out[plane, kind] = min(out[plane, kind] + weight, ONE)


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
