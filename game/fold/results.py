"""Dora indicators, wins, and rounds without a win."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import (
    BAD_CODE,
    BAD_NUMBERS,
    BAD_PLAYER,
    BAD_TILE,
    FITS,
    NO_KAN,
    NOT_TO_MOVE,
    TILE_ELSEWHERE,
    WRONG_MOMENT,
    WRONG_TILE,
)
from game.jit import kernel
from game.layout import (
    AT_INDICATOR,
    AT_UNSEEN,
    PHASE_CLAIM,
    PHASE_ENDED,
    PHASE_IDLE,
    PHASE_ROB,
    PHASE_TURN,
)
from game.packing import DRAW_REASONS

_EXHAUSTIVE: Final = DRAW_REASONS.index("exhaustive")
_NINE_TERMINALS: Final = DRAW_REASONS.index("nine_terminals")
_NAGASHI: Final = DRAW_REASONS.index("nagashi_mangan")
_REASONS: Final = len(DRAW_REASONS)


@kernel
def reveal_dora(rec: Any, tile: int) -> int:
    """Another indicator, one for each kan."""
    if rec.phase in (PHASE_IDLE, PHASE_ENDED):
        return WRONG_MOMENT
    if tile < 0 or tile > 135:
        return BAD_TILE
    if rec.where[tile] != AT_UNSEEN:
        return TILE_ELSEWHERE
    if rec.indicator_count >= 5 or rec.indicator_count > rec.kan_count:
        return NO_KAN
    rec.indicators[rec.indicator_count] = tile
    rec.indicator_count += 1
    rec.where[tile] = AT_INDICATOR
    rec.seen34[tile >> 2] += 1
    return FITS


@kernel
def win(rec: Any, code: Any) -> int:
    """Settle a win; after a ron another on the same tile may follow."""
    player = code[1]
    source = code[2]
    tile = code[3]
    if source < 0 or source > 3:
        return BAD_PLAYER
    if tile < 0 or tile > 135:
        return BAD_TILE
    if player == source:
        if rec.phase != PHASE_TURN:
            return WRONG_MOMENT
        if player != rec.turn:
            return NOT_TO_MOVE
        if rec.hand_known[player] and tile != rec.drawn:
            return WRONG_TILE
    else:
        if rec.phase not in (PHASE_CLAIM, PHASE_ROB, PHASE_ENDED):
            return WRONG_MOMENT
        if source != rec.last_player or tile != rec.last_tile:
            return WRONG_TILE
    if code[8] < 0 or code[8] > rec.riichi_sticks:
        return BAD_NUMBERS
    reason = _settle(rec, code[4:8], code[8])
    if reason == FITS:
        rec.riichi_sticks -= code[8]
        rec.phase = PHASE_ENDED
    return reason


@kernel
def draw_round(rec: Any, code: Any) -> int:
    """Settle a round without a win."""
    if rec.phase not in (PHASE_CLAIM, PHASE_TURN, PHASE_ROB):
        return WRONG_MOMENT
    if code[1] < 0 or code[1] >= _REASONS:
        return BAD_CODE
    if code[1] in (_EXHAUSTIVE, _NAGASHI) and (rec.phase != PHASE_CLAIM or rec.wall_left > 0):
        return WRONG_MOMENT
    if code[1] == _NINE_TERMINALS and rec.phase != PHASE_TURN:
        return WRONG_MOMENT
    reason = _settle(rec, code[2:6], 0)
    if reason == FITS:
        rec.phase = PHASE_ENDED
    return reason


@kernel
def _settle(rec: Any, hundreds: Any, sticks: int) -> int:
    total = 0
    for p in range(4):
        total += hundreds[p]
    if total != 10 * sticks:
        return BAD_NUMBERS
    for p in range(4):
        rec.scores[p] += 100 * np.int32(hundreds[p])
    return FITS
