"""Dispatch of a packed event to the kernel that applies it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.calls import ankan, call, kakan
from game.fold.deal import start_round
from game.fold.reasons import BAD_CODE, BAD_PLAYER, CUT_SHORT, FITS
from game.fold.results import draw_round, reveal_dora, win
from game.fold.turns import accept_riichi, declare_riichi, discard, draw
from game.jit import kernel
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DORA_REVEALED,
    DRAW,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    RIICHI_ACCEPTED,
    START_ROUND,
)

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
