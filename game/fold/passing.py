"""A tile that passes without a win."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import bit
from game.jit import kernel
from game.layout import (
    PHASE_CLAIM,
    PHASE_ROB,
)

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
