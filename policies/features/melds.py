"""Planes of melds and visible dora (groups B, C, O and P)."""

from __future__ import annotations

from typing import Any, Final

from game.dora import dora_of, is_red
from game.jit import kernel
from game.layout import AT_HAND, AT_MELD
from policies.features.draw import add_one, fill
from policies.features.table import KINDS, MELD_SLOTS, ONE

_REDS: Final = (16, 52, 88)
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
        count = 0
        if seat == 0:
            for kind in range(KINDS):
                count += sight.hand34[kind] * sight.dora34[kind]
        for slot in range(rec.meld_count[player]):
            for i in range(4):
                tile = rec.meld_tiles[player, slot, i]
                if tile >= 0:
                    count += sight.dora34[tile >> 2]
        for red in _REDS:
            place = rec.where[red]
            if place == AT_MELD + player or (seat == 0 and place == AT_HAND + me):
                count += 1
        for level in range(min(count, _MOST_DORA)):
            fill(out, at + _MOST_DORA * seat + level, ONE)
