"""Planes of melds, visible dora and candidate calls (groups B, C, O, P and R)."""

from __future__ import annotations

from typing import Any, Final

from game.actions import ActionKind
from game.fold.dispatch import fold_one
from game.fold.reasons import FITS
from game.layout import AT_HAND
from game.packing import ANKAN, CHI, DAIMINKAN, KAKAN, PON, RIICHI_ACCEPTED
from game.scoring.dora import dora_of, is_red
from game.tiles import RED_FIVES
from kit.jit import kernel
from policies.features.draw import add_one, fill
from policies.features.table import KINDS, MELD_SLOTS, ONE

_MELD_PLANES: Final = 6
_MOST_DORA: Final = 5


@kernel
def mark_melds(rec: Any, me: int, out: Any, at: int) -> None:
    """B of the full set: every meld separately."""
    for seat in range(4):
        player = (me + seat) & 3
        for slot in range(rec.meld_count[player]):
            mark_meld(rec, player, slot, out, at + _MELD_PLANES * (MELD_SLOTS * seat + slot))


@kernel
def mark_melds_together(rec: Any, me: int, out: Any, at: int) -> None:
    """B of the lite set: all melds of a seat in one block."""
    for seat in range(4):
        player = (me + seat) & 3
        for slot in range(rec.meld_count[player]):
            mark_meld(rec, player, slot, out, at + _MELD_PLANES * seat)


@kernel
def mark_meld(rec: Any, player: int, slot: int, out: Any, at: int) -> None:
    """Six planes: tiles (4), the called one, red fives."""
    for i in range(4):
        tile = rec.meld_tiles[player, slot, i]
        if tile < 0:
            break
        add_one(out, at, tile >> 2, 4)
        if is_red(tile):
            out[at + 5, tile >> 2] = ONE
    if rec.meld_called[player, slot] >= 0:
        out[at + 4, rec.meld_called[player, slot] >> 2] = ONE


@kernel
def mark_dora(rec: Any, out: Any, indicators: int, dora: int) -> None:
    """C1 and C2."""
    for i in range(rec.indicator_count):
        kind = rec.indicators[i] >> 2
        add_one(out, indicators, kind, 4)
        add_one(out, dora, dora_of(kind), 4)


@kernel
def count_dora(rec: Any, dora34: Any) -> None:
    """Count how often each kind is dora: ``[34]`` int8, filled."""
    dora34[:] = 0
    for i in range(rec.indicator_count):
        dora34[dora_of(rec.indicators[i] >> 2)] += 1


@kernel
def dora_in_melds(rec: Any, player: int, dora34: Any) -> int:
    """Dora and red fives in a player's melds."""
    count = 0
    for slot in range(rec.meld_count[player]):
        for i in range(4):
            tile = rec.meld_tiles[player, slot, i]
            if tile >= 0:
                count += dora34[tile >> 2] + is_red(tile)
    return count


@kernel
def mark_call_turns(rec: Any, me: int, out: Any, at: int) -> None:
    """O: when each opponent called."""
    for seat in range(1, 4):
        player = (me + seat) & 3
        for slot in range(rec.meld_count[player]):
            third = third_of(rec.meld_order[player, slot])
            fill(out, at + 3 * (MELD_SLOTS * (seat - 1) + slot) + third, ONE)


@kernel
def third_of(order: int) -> int:
    """Third of the round by the number of earlier discards: 0 for turns 1-6, 1 for 7-12, 2 for later."""
    return min(order // 24, 2)


@kernel
def mark_dora_in_sight(rec: Any, sight: Any, out: Any, at: int) -> None:
    """P: dora and red fives, mine including the hand, opponents' in melds."""
    me = int(sight.me)
    for seat in range(4):
        player = (me + seat) & 3
        count = dora_in_melds(rec, player, sight.dora34)
        if seat == 0:
            for kind in range(KINDS):
                count += sight.hand34[kind] * sight.dora34[kind]
            for red in RED_FIVES:
                count += rec.where[red] == AT_HAND + me
        for level in range(min(count, _MOST_DORA)):
            fill(out, at + _MOST_DORA * seat + level, ONE)


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
