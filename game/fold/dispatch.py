"""Dispatch of a packed event to the kernel that applies it; wins, draws and new indicators."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.calls import ankan, call, kakan
from game.fold.deal import start_round
from game.fold.reasons import (
    BAD_CODE,
    BAD_NUMBERS,
    BAD_PLAYER,
    BAD_TILE,
    CUT_SHORT,
    FITS,
    NO_KAN,
    NOT_TO_MOVE,
    TILE_ELSEWHERE,
    WRONG_MOMENT,
    WRONG_TILE,
)
from game.fold.turns import accept_riichi, declare_riichi, discard, draw
from game.layout import AT_INDICATOR, AT_UNSEEN, PHASE_CLAIM, PHASE_ENDED, PHASE_IDLE, PHASE_ROB, PHASE_TURN
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DORA_REVEALED,
    DRAW,
    DRAW_REASONS,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    RIICHI_ACCEPTED,
    START_ROUND,
)
from kit.jit import kernel

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


_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)


@kernel
def fold_one(rec: Any, code: Any) -> int:
    """Fold one packed event into a record; 0, or why it does not fit (the record is then unchanged)."""
    if code.size == 0 or code[0] < 1 or code[0] >= _LENGTHS.size:
        return BAD_CODE
    if code.size < _LENGTHS[code[0]]:
        return CUT_SHORT
    what = code[0]
    if what == START_ROUND:
        return start_round(rec, code)
    if what == DORA_REVEALED:
        return reveal_dora(rec, code[1])
    if what == DRAWN_ROUND:
        return draw_round(rec, code)
    player = code[1]
    if player < 0 or player > 3:
        return BAD_PLAYER
    if what == DRAW:
        return draw(rec, player, code[2])
    if what == DISCARD:
        return discard(rec, player, code[2], code[3])
    if what in (CHI, PON, DAIMINKAN):
        return call(rec, what, player, code[2], code[3], code[4 : _LENGTHS[what]])
    if what == ANKAN:
        return ankan(rec, player, code[2:6])
    if what == KAKAN:
        return kakan(rec, player, code[2], code[3:6])
    if what == RIICHI:
        return declare_riichi(rec, player)
    if what == RIICHI_ACCEPTED:
        return accept_riichi(rec, player)
    return win(rec, code)


@kernel
def fold_stream(rec: Any, codes: Any) -> Any:
    """Fold consecutive packed events.

    Returns:
        ``(events folded, reason)``; reason 0 if all of them fit.
    """
    at = 0
    folded = 0
    while at < codes.size:
        if codes[at] < 1 or codes[at] >= _LENGTHS.size:
            return folded, BAD_CODE
        length = _LENGTHS[codes[at]]
        if at + length > codes.size:
            return folded, CUT_SHORT
        reason = fold_one(rec, codes[at : at + length])
        if reason != FITS:
            return folded, reason
        folded += 1
        at += length
    return folded, FITS
