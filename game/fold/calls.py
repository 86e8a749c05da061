"""Chi, pon and the kans."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import (
    BAD_TILE,
    FITS,
    NO_MELD,
    NOT_TO_MOVE,
    TILE_ELSEWHERE,
    WRONG_MOMENT,
    WRONG_TILE,
    bit,
)
from game.fold.turns import let_pass
from game.layout import (
    AT_HAND,
    AT_MELD,
    AT_UNSEEN,
    PHASE_CALLED,
    PHASE_CLAIM,
    PHASE_DRAW,
    PHASE_ROB,
    PHASE_TURN,
    RIVER_CALLED,
)
from game.melds import MeldKind
from game.packing import CHI, DAIMINKAN, PON
from game.shanten import waits
from kit.jit import kernel

_NONE: Final = np.uint64(0)
_MELD_CHI: Final = int(MeldKind.CHI)
_MELD_PON: Final = int(MeldKind.PON)
_MELD_DAIMINKAN: Final = int(MeldKind.DAIMINKAN)
_MELD_ANKAN: Final = int(MeldKind.ANKAN)
_MELD_KAKAN: Final = int(MeldKind.KAKAN)


@kernel
def call(rec: Any, what: int, player: int, source: int, tile: int, own: Any) -> int:
    """A chi, a pon or an open kan of the last discard and the tiles of ``own``."""
    reason = _check_call(rec, what, player, source, tile, own)
    if reason != FITS:
        return reason
    let_pass(rec)
    kind = tile >> 2
    at = rec.river_size[source] - 1
    rec.river_marks[source, at] |= RIVER_CALLED
    meld_kind = _MELD_CHI if what == CHI else (_MELD_PON if what == PON else _MELD_DAIMINKAN)
    slot = _lay_meld(rec, player, meld_kind, own, tile)
    rec.meld_called[player, slot] = tile
    rec.meld_from[player, slot] = source
    rec.is_open[player] = 1
    if what != CHI:
        _set_liability(rec, player, source, kind)
    rec.turn = player
    rec.drawn = -1
    rec.rinshan = 0
    if what == DAIMINKAN:
        rec.kan_count += 1
        rec.phase = PHASE_DRAW
        rec.rinshan = 1
        if rec.hand_known[player]:
            rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    else:
        rec.phase = PHASE_CALLED
        rec.kuikae = kuikae_mask(kind, own[0] >> 2, own[1] >> 2)
    return FITS


@kernel
def kuikae_mask(called: int, first: int, second: int) -> Any:
    """The kinds barred after a call (kuikae): the called one, and the other end of its sequence."""
    mask = bit(called)
    low = min(first, second)
    high = max(first, second)
    if high - low == 1:
        if called < low and high % 9 != 8:
            mask |= bit(high + 1)
        elif called > high and low % 9 != 0:
            mask |= bit(low - 1)
    return mask


@kernel(inline="always")
def _check_call(rec: Any, what: int, player: int, source: int, tile: int, own: Any) -> int:
    if rec.phase != PHASE_CLAIM:
        return WRONG_MOMENT
    if source != rec.last_player or player == source or (what == CHI and player != (source + 1) % 4):
        return NOT_TO_MOVE
    if tile != rec.last_tile:
        return WRONG_TILE
    if rec.riichi[source] == 1:
        return WRONG_MOMENT
    if rec.meld_count[player] >= 4:
        return NO_MELD
    reason = _check_own(rec, player, own)
    if reason != FITS:
        return reason
    kind = tile >> 2
    if what != CHI:
        for i in range(own.size):
            if own[i] >> 2 != kind:
                return NO_MELD
        return FITS
    return FITS if _is_run(kind, own[0] >> 2, own[1] >> 2) else NO_MELD


@kernel
def _is_run(a: int, b: int, c: int) -> bool:
    low = min(a, b, c)
    high = max(a, b, c)
    return high < 27 and high - low == 2 and a + b + c == 3 * (low + 1) and low // 9 == high // 9


@kernel
def _check_own(rec: Any, player: int, own: Any) -> int:
    """Check that the tiles a player melds are distinct, and in the hand or unseen."""
    place = AT_HAND + player if rec.hand_known[player] else AT_UNSEEN
    for i in range(own.size):
        if own[i] < 0 or own[i] > 135:
            return BAD_TILE
        if rec.where[own[i]] != place:
            return TILE_ELSEWHERE
        for j in range(i):
            if own[i] == own[j]:
                return TILE_ELSEWHERE
    return FITS


@kernel
def put_in_order(tiles: Any, first: int, end: int) -> None:
    """Sort a few tiles of an array; NumPy's sort takes a second to compile."""
    for last in range(first + 1, end):
        place, tile = last, tiles[last]
        while place > first and tiles[place - 1] > tile:
            tiles[place] = tiles[place - 1]
            place -= 1
        tiles[place] = tile


@kernel
def _lay_meld(rec: Any, player: int, meld_kind: int, own: Any, called: int) -> int:
    """Move tiles from the hand, and the called one if there is one, into a new meld; its slot."""
    slot = rec.meld_count[player]
    known = rec.hand_known[player] == 1
    count = own.size
    for i in range(own.size):
        rec.meld_tiles[player, slot, i] = own[i]
        rec.where[own[i]] = AT_MELD + player
        rec.seen34[own[i] >> 2] += 1
        if known:
            rec.hand34[player, own[i] >> 2] -= 1
    if called >= 0:
        rec.meld_tiles[player, slot, count] = called
        rec.where[called] = AT_MELD + player
        count += 1
    # The first tile of a closed kan names it on the wire; the others follow in ascending order.
    first = 1 if meld_kind == _MELD_ANKAN else 0
    put_in_order(rec.meld_tiles[player, slot], first, count)
    rec.meld_kind[player, slot] = meld_kind
    rec.meld_order[player, slot] = rec.discard_count
    rec.meld_count[player] = slot + 1
    rec.hand_size[player] -= own.size
    rec.unbroken = 0
    rec.ippatsu[:] = 0
    return slot


@kernel(inline="always")
def _set_liability(rec: Any, player: int, source: int, kind: int) -> None:
    """The player who gives the last of three dragon or four wind sets pays for the yakuman."""
    if kind < 27:
        return
    dragons = 0
    winds = 0
    for slot in range(rec.meld_count[player]):
        other = rec.meld_tiles[player, slot, 0] >> 2
        if other >= 31:
            dragons += 1
        elif other >= 27:
            winds += 1
    if kind >= 31 and dragons == 3:
        rec.liable_dragons[player] = source
    if kind < 31 and winds == 4:
        rec.liable_winds[player] = source


@kernel
def ankan(rec: Any, player: int, own: Any) -> int:
    """A closed kan; its four tiles leave the hand and a replacement is drawn."""
    reason = _check_own_kan(rec, player)
    if reason != FITS:
        return reason
    if rec.meld_count[player] >= 4:
        return NO_MELD
    reason = _check_own(rec, player, own)
    if reason != FITS:
        return reason
    kind = own[0] >> 2
    for i in range(4):
        if own[i] >> 2 != kind:
            return NO_MELD
    slot = _lay_meld(rec, player, _MELD_ANKAN, own, -1)
    rec.meld_from[player, slot] = player
    rec.kan_count += 1
    rec.drawn = -1
    rec.kuikae = _NONE
    rec.rinshan = 1
    rec.phase = PHASE_DRAW
    if rec.hand_known[player]:
        rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    return FITS


@kernel
def _check_own_kan(rec: Any, player: int) -> int:
    # After a riichi only its discard follows; after a call the hand may still have the tiles for a kan.
    if rec.phase != PHASE_TURN and (rec.phase != PHASE_CALLED or rec.riichi[rec.turn] == 1):
        return WRONG_MOMENT
    return FITS if player == rec.turn else NOT_TO_MOVE


@kernel
def kakan(rec: Any, player: int, tile: int, pon: Any) -> int:
    """Add the fourth tile to a pon; it can be robbed before the replacement is drawn."""
    reason = _check_own_kan(rec, player)
    if reason != FITS:
        return reason
    if tile < 0 or tile > 135:
        return BAD_TILE
    known = rec.hand_known[player] == 1
    if rec.where[tile] != (AT_HAND + player if known else AT_UNSEEN):
        return TILE_ELSEWHERE
    slot = _find_pon(rec, player, tile >> 2)
    if slot < 0:
        return NO_MELD
    for i in range(3):
        if pon[i] < 0 or pon[i] > 135:
            return BAD_TILE
        if rec.where[pon[i]] != AT_MELD + player or pon[i] >> 2 != tile >> 2:
            return NO_MELD
    if known:
        rec.hand34[player, tile >> 2] -= 1
        rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    rec.meld_kind[player, slot] = _MELD_KAKAN
    rec.meld_added[player, slot] = tile
    for i in range(4):
        rec.meld_tiles[player, slot, i] = (tile & ~3) + i
    rec.where[tile] = AT_MELD + player
    rec.seen34[tile >> 2] += 1
    rec.hand_size[player] -= 1
    rec.kan_count += 1
    rec.drawn = -1
    rec.kuikae = _NONE
    rec.rinshan = 1
    rec.phase = PHASE_ROB
    rec.last_player = player
    rec.last_tile = tile
    return FITS


@kernel(inline="always")
def _find_pon(rec: Any, player: int, kind: int) -> int:
    for slot in range(rec.meld_count[player]):
        if rec.meld_kind[player, slot] == _MELD_PON and rec.meld_tiles[player, slot, 0] >> 2 == kind:
            return slot
    return -1
