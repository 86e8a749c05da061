"""Planes of the own hand: tiles, shape and possible actions (groups A and N)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold import bit
from game.jit import kernel
from game.layout import AT_HAND, PHASE_CALLED, PHASE_TURN
from game.shanten import shanten_normal, shanten_seven_pairs
from policies.features.draw import fill, mark_counts, mark_mask
from policies.features.table import KINDS, ONE

_NONE: Final = np.uint64(0)
_REDS: Final = (16, 52, 88)
_LEAST_WALL: Final = 4


@kernel
def mark_hand(rec: Any, me: int, out: Any, tiles: int, reds: int, drawn: int) -> None:
    """A1, A2, A3."""
    mark_counts(out, tiles, rec.hand34[me], 4)
    for suit in range(3):
        if rec.where[_REDS[suit]] == AT_HAND + me:
            fill(out, reds + suit, ONE)
    if has_drawn(rec, me):
        out[drawn, rec.drawn >> 2] = ONE


@kernel
def has_drawn(rec: Any, me: int) -> bool:
    """Whether the hand contains the tile the player has just drawn."""
    return bool(rec.phase in (PHASE_TURN, PHASE_CALLED) and rec.turn == me and rec.drawn >= 0)


@kernel
def mark_shanten_forms(sight: Any, out: Any, at: int) -> None:
    """The first 14 planes of N in the full set: shanten towards sets and a pair, then towards seven pairs."""
    distance = shanten_normal(sight.hand34, int(sight.melds))
    fill(out, at + min(max(distance, 0), 6), ONE)
    if sight.melds == 0:
        fill(out, at + 7 + min(max(shanten_seven_pairs(sight.hand34), 0), 6), ONE)


@kernel
def mark_shanten(sight: Any, out: Any, at: int) -> None:
    """The first 6 planes of N in the lite set: shanten over all forms."""
    fill(out, at + min(int(sight.shanten), 5), ONE)


@kernel
def mark_shape(rec: Any, sight: Any, out: Any, at: int) -> None:
    """The last 6 planes of N: waits, furiten, accepted tiles; legal, swap-forbidden and riichi discards."""
    me = int(sight.me)
    called = rec.phase == PHASE_CALLED and rec.turn == me and rec.riichi[me] == 0
    ready = _NONE if called else rec.waits[me]
    mark_mask(out, at, ready)
    if rec.missed_turn[me] or rec.missed_riichi[me] or ready & rec.river34[me] != _NONE:
        fill(out, at + 1, ONE)
    for kind in range(KINDS):
        if sight.unseen34[kind] > 0 and sight.accepting & bit(kind) != _NONE:
            out[at + 2, kind] = ONE
    if rec.turn != me or rec.phase not in (PHASE_TURN, PHASE_CALLED):
        return
    if called:
        mark_mask(out, at + 4, rec.kuikae)
    if _may_declare(rec, me):
        _mark_ready(sight, out, at + 5)
    if rec.phase == PHASE_CALLED and rec.riichi[me] == 1:
        _mark_ready(sight, out, at + 3)
    elif rec.riichi[me] == 2:
        if rec.drawn >= 0:
            out[at + 3, rec.drawn >> 2] = ONE
    else:
        for kind in range(KINDS):
            if sight.hand34[kind] > 0 and not (called and rec.kuikae & bit(kind) != _NONE):
                out[at + 3, kind] = ONE


@kernel
def _may_declare(rec: Any, me: int) -> bool:
    """Whether riichi may be declared now, or has just been declared."""
    if rec.phase == PHASE_CALLED:
        return bool(rec.riichi[me] == 1)
    return bool(
        rec.riichi[me] == 0
        and rec.is_open[me] == 0
        and rec.scores[me] >= 1000
        and rec.wall_left >= _LEAST_WALL
    )


@kernel
def _mark_ready(sight: Any, out: Any, plane: int) -> None:
    for kind in range(KINDS):
        if sight.at_shanten[kind] == 0:
            out[plane, kind] = ONE
