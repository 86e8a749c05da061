"""Draws, riichi and discards, and tiles that pass without a win."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import (
    BAD_TILE,
    DECLARED,
    FITS,
    NOT_TO_MOVE,
    RIVER_FULL,
    TILE_ELSEWHERE,
    WALL_EMPTY,
    WRONG_MOMENT,
    WRONG_TILE,
    bit,
)
from game.layout import (
    AT_HAND,
    AT_RIVER,
    AT_UNSEEN,
    PHASE_CALLED,
    PHASE_CLAIM,
    PHASE_DRAW,
    PHASE_ROB,
    PHASE_TURN,
    RIVER_MAX,
    RIVER_RIICHI,
    RIVER_TSUMOGIRI,
)
from game.shanten import waits
from kit.jit import kernel

_NONE: Final = np.uint64(0)


@kernel
def let_pass(rec: Any) -> None:
    """The last tile passes: players who waited on it become furiten, and an added kan now breaks ippatsu."""
    if rec.phase not in (PHASE_CLAIM, PHASE_ROB):
        return
    mask = bit(rec.last_tile >> 2)
    for p in range(4):
        if p == rec.last_player:
            continue
        rec.turn_safe34[p] |= mask
        if rec.riichi[p] == 2:
            rec.safe34[p] |= mask
        if rec.waits[p] & mask != _NONE:
            rec.missed_turn[p] = 1
            if rec.riichi[p] == 2:
                rec.missed_riichi[p] = 1
    if rec.phase == PHASE_ROB:
        rec.ippatsu[:] = 0


@kernel
def draw(rec: Any, player: int, tile: int) -> int:
    """A player draws a tile; the previous discard has then passed."""
    if rec.phase == PHASE_CLAIM:
        if player != (rec.last_player + 1) % 4:
            return NOT_TO_MOVE
        if rec.riichi[rec.last_player] == 1:
            return WRONG_MOMENT
    elif rec.phase in (PHASE_DRAW, PHASE_ROB):
        if player != rec.turn:
            return NOT_TO_MOVE
    else:
        return WRONG_MOMENT
    if rec.wall_left <= 0 and rec.phase == PHASE_CLAIM:
        return WALL_EMPTY
    if tile < -1 or tile > 135 or (tile >= 0) != (rec.hand_known[player] == 1):
        return BAD_TILE
    if tile >= 0 and rec.where[tile] != AT_UNSEEN:
        return TILE_ELSEWHERE
    if rec.phase == PHASE_CLAIM:
        rec.rinshan = 0
    let_pass(rec)
    rec.phase = PHASE_TURN
    rec.turn = player
    rec.drawn = tile
    # A kan made too late takes its replacement tile from a wall that is otherwise exhausted.
    rec.wall_left = max(rec.wall_left - 1, 0)
    rec.hand_size[player] += 1
    if tile >= 0:
        rec.where[tile] = AT_HAND + player
        rec.hand34[player, tile >> 2] += 1
    return FITS


@kernel
def discard(rec: Any, player: int, tile: int, tsumogiri: int) -> int:
    """A player discards a tile; the waits of a known hand are recomputed."""
    if rec.phase not in (PHASE_TURN, PHASE_CALLED):
        return WRONG_MOMENT
    if player != rec.turn:
        return NOT_TO_MOVE
    reason = _check_discard(rec, player, tile, tsumogiri)
    if reason != FITS:
        return reason
    kind = tile >> 2
    known = rec.hand_known[player] == 1
    if known:
        rec.hand34[player, kind] -= 1
        rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    rec.hand_size[player] -= 1
    rec.where[tile] = AT_RIVER + player
    rec.seen34[kind] += 1
    _discard(rec, player, tile, tsumogiri)
    rec.phase = PHASE_CLAIM
    rec.last_player = player
    rec.last_tile = tile
    rec.drawn = -1
    rec.rinshan = 0
    rec.kuikae = _NONE
    return FITS


@kernel
def _check_discard(rec: Any, player: int, tile: int, tsumogiri: int) -> int:
    if tile < 0 or tile > 135:
        return BAD_TILE
    if rec.river_size[player] >= RIVER_MAX:
        return RIVER_FULL
    known = rec.hand_known[player] == 1
    if rec.where[tile] != (AT_HAND + player if known else AT_UNSEEN):
        return TILE_ELSEWHERE
    if known and (tile == rec.drawn) != (tsumogiri == 1):
        return WRONG_TILE
    if rec.phase == PHASE_CALLED and rec.riichi[player] != 1 and tsumogiri == 1:
        return WRONG_TILE
    return FITS


@kernel
def _discard(rec: Any, player: int, tile: int, tsumogiri: int) -> None:
    at = rec.river_size[player]
    mask = bit(tile >> 2)
    rec.river[player, at] = tile
    rec.river_order[player, at] = rec.discard_count
    marks = RIVER_TSUMOGIRI if tsumogiri == 1 else 0
    if rec.riichi[player] == 1:
        marks |= RIVER_RIICHI
        rec.riichi_order[player] = rec.discard_count
    rec.river_marks[player, at] = marks
    rec.river_size[player] = at + 1
    rec.discard_count += 1
    rec.river34[player] |= mask
    rec.safe34[player] |= mask
    rec.turn_safe34[player] = _NONE
    rec.missed_turn[player] = 0
    rec.ippatsu[player] = 0


@kernel
def declare_riichi(rec: Any, player: int) -> int:
    """A player declares riichi; the discard must follow."""
    if rec.phase != PHASE_TURN:
        return WRONG_MOMENT
    if player != rec.turn:
        return NOT_TO_MOVE
    if rec.riichi[player] != 0:
        return DECLARED
    rec.riichi[player] = 1
    if rec.unbroken and rec.river_size[player] == 0:
        rec.double_riichi[player] = 1
    rec.phase = PHASE_CALLED
    return FITS


@kernel
def accept_riichi(rec: Any, player: int) -> int:
    """The riichi discard was not won on: the stick is paid and ippatsu begins."""
    if rec.phase != PHASE_CLAIM or rec.last_player != player or rec.riichi[player] != 1:
        return WRONG_MOMENT
    rec.riichi[player] = 2
    rec.ippatsu[player] = 1
    rec.scores[player] -= 1000
    rec.riichi_sticks += 1
    return FITS
