"""Planes of the own hand (groups A and N), and those of the Hosei set."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import bit
from game.layout import AT_HAND, PHASE_CALLED, PHASE_TURN, RIVER_TSUMOGIRI
from game.melds import MeldKind
from game.rules import riichi_allowed
from game.shanten import shanten_normal, shanten_seven_pairs
from game.tiles import RED_FIVES
from kit.jit import kernel
from policies.features.draw import add_one, fill, mark_counts, mark_mask
from policies.features.table import COPIES, KINDS, ONE

_NONE: Final = np.uint64(0)


@kernel
def mark_hand(rec: Any, me: int, out: Any, tiles: int, reds: int, drawn: int) -> None:
    """A1, A2, A3."""
    mark_counts(out, tiles, rec.hand34[me], 4)
    for suit in range(3):
        if rec.where[RED_FIVES[suit]] == AT_HAND + me:
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
    return riichi_allowed(rec, me)


@kernel
def _mark_ready(sight: Any, out: Any, plane: int) -> None:
    for kind in range(KINDS):
        if sight.at_shanten[kind] == 0:
            out[plane, kind] = ONE


_EAST: Final = 27
_NOW: Final = 1 << 14
"""Later than any discard."""
_DAIMINKAN: Final = int(MeldKind.DAIMINKAN)
_KANS: Final = (int(MeldKind.DAIMINKAN), int(MeldKind.ANKAN), int(MeldKind.KAKAN))


@kernel
def mark_go_around(rec: Any, me: int, age: int, out: Any, at: int) -> None:
    """H, D, M, and C and R of the present and of one go-around ago; empty if the round is younger.

    "n go-arounds ago" is the moment before the player's own n-th last discard in this round. A record holds
    no history; the past is rebuilt from the order of its discards and calls. Exact: discards, riichi, and
    melds and indicators but for a kan by an added tile, whose moment is not recorded. A hand is the present
    one without the tile just drawn, with the tiles discarded or melded since; what it cannot leave out are
    tiles drawn since and kept.
    """
    discards = int(rec.river_size[me])
    if discards < age:
        return
    moment = _NOW if age == 0 else int(rec.river_order[me, discards - age])
    mark_counts(out, at, rec.hand34[me], COPIES)
    if age > 0:
        _turn_back_hand(rec, me, discards - age, moment, out, at)
    _mark_tables(rec, me, moment, out, at + COPIES, at + 5 * COPIES)
    if age > 1:
        return
    for i in range(_shown(rec, me, moment)):
        add_one(out, at + 9 * COPIES, rec.indicators[i] >> 2, COPIES)
    for seat in range(1, 4):
        player = (me + seat) & 3
        if rec.riichi[player] != 0 and rec.riichi_order[player] < moment:
            for copy in range(COPIES):
                fill(out, at + COPIES * (9 + seat) + copy, ONE)


@kernel
def mark_winds(rec: Any, me: int, out: Any, round_wind: int, own_wind: int) -> None:
    """W and S."""
    for copy in range(COPIES):
        out[round_wind + copy, _EAST + rec.round_index // 4] = ONE
        out[own_wind + copy, _EAST + ((me - rec.dealer) & 3)] = ONE


@kernel
def _mark_tables(rec: Any, me: int, moment: int, out: Any, rivers: int, melds: int) -> None:
    """D and M: discards before a moment, and melds up to it."""
    for seat in range(4):
        player = (me + seat) & 3
        for turn in range(rec.river_size[player]):
            if rec.river_order[player, turn] < moment:
                add_one(out, rivers + COPIES * seat, rec.river[player, turn] >> 2, COPIES)
        for slot in range(rec.meld_count[player]):
            if rec.meld_order[player, slot] <= moment:
                for i in range(4):
                    if rec.meld_tiles[player, slot, i] >= 0:
                        add_one(out, melds + COPIES * seat, rec.meld_tiles[player, slot, i] >> 2, COPIES)


@kernel
def _turn_back_hand(rec: Any, me: int, first: int, moment: int, out: Any, at: int) -> None:
    """Take the tile just drawn out of a hand, and put back what has left it since its discard ``first``."""
    if has_drawn(rec, me):
        _take_one(out, at, rec.drawn >> 2)
    for turn in range(first, rec.river_size[me]):
        if turn == first or not rec.river_marks[me, turn] & RIVER_TSUMOGIRI:
            add_one(out, at, rec.river[me, turn] >> 2, COPIES)
    for slot in range(rec.meld_count[me]):
        if rec.meld_order[me, slot] > moment:
            for i in range(4):
                tile = rec.meld_tiles[me, slot, i]
                if tile >= 0 and tile != rec.meld_called[me, slot]:
                    add_one(out, at, tile >> 2, COPIES)


@kernel
def _take_one(out: Any, plane: int, kind: int) -> None:
    """Undo `add_one`."""
    for copy in range(COPIES - 1, -1, -1):
        if out[plane + copy, kind]:
            out[plane + copy, kind] = 0
            return


@kernel
def _shown(rec: Any, me: int, moment: int) -> int:
    """Indicators shown at a moment. That of an open kan is turned over after the discard that follows it."""
    kans, waiting = 0, 0
    for player in range(4):
        for slot in range(rec.meld_count[player]):
            if rec.meld_kind[player, slot] in _KANS and rec.meld_order[player, slot] <= moment:
                kans += 1
                if player == me and rec.meld_order[player, slot] == moment:
                    waiting = 1 if rec.meld_kind[player, slot] == _DAIMINKAN else 0
    return min(int(rec.indicator_count), 1 + kans - waiting)
