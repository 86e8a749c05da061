"""The deal: clear the record and place the tiles."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import BAD_NUMBERS, BAD_TILE, FITS, TILE_ELSEWHERE, WRONG_MOMENT
from game.layout import AT_HAND, AT_INDICATOR, AT_UNSEEN, LIVE_TILES, PHASE_DRAW, PHASE_ENDED, PHASE_IDLE
from game.shanten import waits
from kit.jit import kernel

_NONE: Final = np.uint64(0)


@kernel
def start_round(rec: Any, code: Any) -> int:
    """A new round; nothing of the previous one remains."""
    if rec.phase not in (PHASE_IDLE, PHASE_ENDED):
        return WRONG_MOMENT
    reason = _check_deal(code)
    if reason != FITS:
        return reason
    _clear(rec)
    rec.round_index = code[1]
    rec.honba = code[2]
    rec.riichi_sticks = code[3]
    rec.dealer = code[4]
    for p in range(4):
        rec.scores[p] = 100 * np.int32(code[5 + p])
        rec.hand_size[p] = 13
        if code[10 + 13 * p] < 0:
            continue
        rec.hand_known[p] = 1
        for i in range(13):
            tile = code[10 + 13 * p + i]
            rec.where[tile] = AT_HAND + p
            rec.hand34[p, tile >> 2] += 1
        rec.waits[p] = waits(rec.hand34[p], 0)
    rec.indicators[0] = code[9]
    rec.indicator_count = 1
    rec.where[code[9]] = AT_INDICATOR
    rec.seen34[code[9] >> 2] += 1
    rec.wall_left = LIVE_TILES
    rec.phase = PHASE_DRAW
    rec.turn = code[4]
    rec.unbroken = 1
    return FITS


@kernel
def _check_deal(code: Any) -> int:
    if code[1] < 0 or code[1] > 11 or code[2] < 0 or code[3] < 0 or code[4] != code[1] % 4:
        return BAD_NUMBERS
    if code[9] < 0 or code[9] > 135:
        return BAD_TILE
    taken = np.zeros(136, dtype=np.uint8)
    taken[code[9]] = 1
    for p in range(4):
        hidden = code[10 + 13 * p] == -1
        for i in range(13):
            tile = code[10 + 13 * p + i]
            if hidden and tile == -1:
                continue
            if hidden or tile < 0 or tile > 135:
                return BAD_TILE
            if taken[tile]:
                return TILE_ELSEWHERE
            taken[tile] = 1
    return FITS


@kernel
def _clear(rec: Any) -> None:
    rec.kan_count = 0
    rec.drawn = -1
    rec.rinshan = 0
    rec.last_player = -1
    rec.last_tile = -1
    rec.kuikae = _NONE
    rec.discard_count = 0
    rec.indicators[:] = -1
    rec.hand34[:] = 0
    rec.where[:] = AT_UNSEEN
    rec.seen34[:] = 0
    rec.river[:] = -1
    rec.river_marks[:] = 0
    rec.river_order[:] = -1
    rec.meld_kind[:] = 0
    rec.meld_tiles[:] = -1
    rec.meld_called[:] = -1
    rec.meld_from[:] = -1
    rec.meld_added[:] = -1
    rec.meld_order[:] = -1
    for p in range(4):
        rec.hand_known[p] = 0
        rec.river_size[p] = 0
        rec.river34[p] = _NONE
        rec.safe34[p] = _NONE
        rec.turn_safe34[p] = _NONE
        rec.meld_count[p] = 0
        rec.is_open[p] = 0
        rec.riichi[p] = 0
        rec.double_riichi[p] = 0
        rec.riichi_order[p] = -1
        rec.ippatsu[p] = 0
        rec.waits[p] = _NONE
        rec.missed_turn[p] = 0
        rec.missed_riichi[p] = 0
        rec.liable_dragons[p] = -1
        rec.liable_winds[p] = -1
