"""Planes of a candidate call, and the round after it (group R)."""

from __future__ import annotations

from typing import Any, Final

from game.actions import ActionKind
from game.dora import is_red
from game.fold import fold_one
from game.fold.reasons import FITS
from game.jit import kernel
from game.layout import AT_HAND
from game.packing import ANKAN, CHI, DAIMINKAN, KAKAN, PON, RIICHI_ACCEPTED
from policies.features.draw import add_one, fill
from policies.features.table import ONE

CALL_WIDTH: Final = 6
"""Length of a call's row, as `game.rules.legal_rows` writes it: kind, tile, four consumed."""

# planes within the group, as the table lists them
_TILES: Final = 0
_CALLED: Final = 4
_RED: Final = 5
_FROM: Final = 6
_KIND: Final = 9

_CHI: Final = int(ActionKind.CHI)
_PON: Final = int(ActionKind.PON)
_DAIMINKAN: Final = int(ActionKind.DAIMINKAN)
_ANKAN: Final = int(ActionKind.ANKAN)
_KAKAN: Final = int(ActionKind.KAKAN)


@kernel
def mark_call(rec: Any, me: int, row: Any, out: Any, at: int) -> None:
    """R: the completed meld, and whose tile completes it."""
    for i in range(1, CALL_WIDTH):
        tile = row[i]
        if tile < 0:
            continue
        add_one(out, at + _TILES, tile >> 2, 4)
        if is_red(tile) and rec.where[tile] == AT_HAND + me:
            out[at + _RED, tile >> 2] = ONE
    if row[1] >= 0:
        out[at + _CALLED, row[1] >> 2] = ONE
    kind = row[0]
    if kind in (_CHI, _PON, _DAIMINKAN):
        fill(out, at + _FROM + (rec.last_player - me) % 4 - 1, ONE)
    fill(out, at + _KIND + (0 if kind == _CHI else (1 if kind == _PON else 2)), ONE)


@kernel
def make_call(rec: Any, me: int, row: Any, code: Any) -> bool:
    """Apply a call to a round; false if the call does not fit.

    Args:
        rec: The round, a copy.
        me: The caller.
        row: The call.
        code: ``[8]`` int16, scratch space for the packed event.
    """
    kind = row[0]
    claims = kind in (_CHI, _PON, _DAIMINKAN)
    if claims and rec.last_player >= 0 and rec.riichi[rec.last_player] == 1:
        # the stick of a riichi is paid before its discard is called
        code[0] = RIICHI_ACCEPTED
        code[1] = rec.last_player
        fold_one(rec, code)
    code[1] = me
    if claims:
        code[0] = CHI if kind == _CHI else (PON if kind == _PON else DAIMINKAN)
        code[2] = rec.last_player
        code[3] = row[1]
        code[4:7] = row[2:5]
    elif kind == _ANKAN:
        code[0] = ANKAN
        code[2:6] = row[2:6]
    elif kind == _KAKAN:
        code[0] = KAKAN
        code[2] = row[1]
        code[3:6] = row[2:5]
    else:
        return False
    return fold_one(rec, code) == FITS
