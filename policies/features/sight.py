"""One player's view of a round, computed once for all groups of planes that need it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import bit
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_TURN
from game.rules import riichi_allowed
from game.shanten import accepted
from kit.jit import kernel
from policies.features.melds import count_dora
from policies.features.table import KINDS

FAR: Final = 99
"""Shanten of a position that does not exist."""

GOOD_WAIT: Final = 5
"""Copies that make a good wait."""

SIGHT: Final = np.dtype(
    [
        ("me", "i1"),
        ("melds", "i1"),
        ("hand34", "i1", (34,)),
        ("all34", "i1", (34,)),  # including the melds
        ("dora34", "i1", (34,)),  # how often each kind counts as dora
        ("unseen34", "i1", (34,)),
        ("unseen", "i2"),  # in all
        ("draws", "i1"),  # mine, remaining
        ("discards", "u1"),  # 3n+2 tiles: a position is a discard, else a draw
        ("may_riichi", "u1"),  # closed, and riichi is on or still possible
        ("shanten", "i1"),  # of the hand as it is; with 3n+2 tiles, after the best discard
        ("accepting", "u8"),  # kinds that lower it
        # the 34 positions: after discarding a kind, or after drawing it and the best discard
        ("at_shanten", "i1", (34,)),
        ("at_mask", "u8", (34,)),
        ("at_copies", "i2", (34,)),
        ("at_kinds", "i1", (34,)),
        ("at_discards", "u8", (34,)),  # the equally good discards that lead there; none if the draw wins
        # for a position one away: copies of the best wait for each kind accepted; -1 where not evaluated
        ("evaluated", "u1", (34,)),
        ("next_wait", "i2", (34, 34)),
        # scratch space for the search
        ("rest34", "i1", (34,)),
        ("less_shanten", "i1", (34,)),
        ("less_mask", "u8", (34,)),
        ("odds", "f8", (70,)),  # of one unseen tile at each remaining draw
        ("mass", "f8", (8,)),  # probability of each level
        ("wait_mass", "f8", (34,)),
        ("ready", "f8", (4,)),
        ("won", "f8", (4,)),
    ],
    align=True,
)
"""One record of scratch space; kernels fill it for a state and a player."""

_NONE: Final = np.uint64(0)


@kernel
def fill_sight(rec: Any, me: int, sight: Any) -> None:
    """Fill a sight, including the positions' look-ahead."""
    sight.me = me
    sight.melds = rec.meld_count[me]
    count_dora(rec, sight.dora34)
    held = 0
    sight.unseen = 0
    for kind in range(KINDS):
        sight.hand34[kind] = rec.hand34[me, kind]
        sight.all34[kind] = rec.hand34[me, kind]
        sight.unseen34[kind] = 4 - rec.seen34[kind] - rec.hand34[me, kind]
        sight.unseen += sight.unseen34[kind]
        held += rec.hand34[me, kind]
    for slot in range(sight.melds):
        for i in range(4):
            if rec.meld_tiles[me, slot, i] >= 0:
                sight.all34[rec.meld_tiles[me, slot, i] >> 2] += 1
    sight.draws = draws_left(rec, me)
    sight.may_riichi = (rec.is_open[me] == 0 and rec.riichi[me] != 0) or riichi_allowed(rec, me)
    sight.discards = held % 3 == 2
    sight.at_shanten[:] = FAR
    sight.evaluated[:] = 0
    sight.accepting = _NONE
    if sight.discards:
        _look_at_discards(sight)
    elif held % 3 == 1:
        _look_at_draws(sight)
    else:
        sight.shanten = FAR  # an unknown hand


@kernel
def draws_left(rec: Any, me: int) -> int:
    """Number of tiles I will still draw if no call is made."""
    if rec.phase in (PHASE_TURN, PHASE_CALLED):
        before = (me - rec.turn - 1) % 4
    elif rec.phase == PHASE_CLAIM:
        before = (me - rec.last_player - 1) % 4
    else:
        before = (me - rec.turn) % 4
    return int(max(0, rec.wall_left - before + 3) // 4)


@kernel
def _count(mask: Any, counts34: Any) -> Any:
    """Copies and kinds of a mask, without kinds that have no copy left."""
    copies = 0
    kinds = 0
    for kind in range(KINDS):
        if mask & bit(kind) != _NONE and counts34[kind] > 0:
            copies += counts34[kind]
            kinds += 1
    return copies, kinds


@kernel
def _set_position(sight: Any, at: int, distance: int, mask: Any) -> None:
    """A position reached by discarding its own kind."""
    copies, kinds = _count(mask, sight.unseen34)
    sight.at_shanten[at] = distance
    sight.at_mask[at] = mask
    sight.at_copies[at] = copies
    sight.at_kinds[at] = kinds
    sight.at_discards[at] = bit(at)


# --- 3n+2 tiles: a position is a discard ------------------------------------------------------------------


@kernel(inline="always")
def _look_at_discards(sight: Any) -> None:
    hand34 = sight.hand34
    melds = int(sight.melds)
    least = FAR
    for kind in range(KINDS):
        if hand34[kind] == 0:
            continue
        hand34[kind] -= 1
        distance, mask = accepted(hand34, melds)
        hand34[kind] += 1
        _set_position(sight, kind, distance, mask)
        least = min(least, distance)
    sight.shanten = least
    for kind in range(KINDS):
        if sight.at_shanten[kind] == least:
            sight.accepting |= sight.at_mask[kind]
    if least == 1:
        _look_beyond_discards(sight)


@kernel(inline="always")
def _look_beyond_discards(sight: Any) -> None:
    """Best waits after one more draw and discard, for the discards that stay one away.

    Each pair of discards is evaluated once: the same tiles remain in either order.
    """
    hand34 = sight.hand34
    for first in range(KINDS):
        if sight.at_shanten[first] == 1:
            sight.evaluated[first] = 1
            sight.next_wait[first, :] = 0
    for first in range(KINDS):
        if sight.at_shanten[first] != 1:
            continue
        hand34[first] -= 1
        for second in range(first, KINDS):
            if sight.at_shanten[second] == 1 and hand34[second] > 0:
                hand34[second] -= 1
                _waits_after_draws(sight, first, second)
                hand34[second] += 1
        hand34[first] += 1


@kernel(inline="always")
def _waits_after_draws(sight: Any, first: int, second: int) -> None:
    """For each draw that makes the rest tenpai, raise ``next_wait`` of both positions to its best wait."""
    hand34 = sight.hand34
    distance, mask = accepted(hand34, int(sight.melds))
    if distance != 1:
        return
    for drawn in range(KINDS):
        if mask & bit(drawn) == _NONE or sight.unseen34[drawn] <= 0:
            continue
        copies = _wait_after(hand34, int(sight.melds), drawn, sight.unseen34)
        for at in (first, second):
            sight.next_wait[at, drawn] = max(sight.next_wait[at, drawn], copies)


@kernel(inline="always")
def _wait_after(hand34: Any, melds: int, drawn: int, unseen34: Any) -> int:
    """Copies that win after a kind is drawn to 3n tiles; 0 if the hand is not tenpai then."""
    hand34[drawn] += 1
    unseen34[drawn] -= 1
    distance, mask = accepted(hand34, melds)
    copies = 0
    if distance == 0:
        copies = _count(mask, unseen34)[0]
    unseen34[drawn] += 1
    hand34[drawn] -= 1
    return copies


# --- 3n+1 tiles: a position is a draw ---------------------------------------------------------------------


@kernel(inline="always")
def _look_at_draws(sight: Any) -> None:
    hand34 = sight.hand34
    melds = int(sight.melds)
    distance, mask = accepted(hand34, melds)
    sight.shanten = distance
    sight.accepting = mask
    for kind in range(KINDS):
        if sight.unseen34[kind] > 0 and mask & bit(kind) == _NONE:
            _set_position(sight, kind, distance, mask)
    if distance == 0:
        for kind in range(KINDS):
            if sight.unseen34[kind] > 0 and mask & bit(kind) != _NONE:
                sight.at_shanten[kind], sight.at_mask[kind] = -1, _NONE
                sight.at_copies[kind], sight.at_kinds[kind] = 0, 0
                sight.at_discards[kind] = _NONE
        return
    for kind in range(KINDS):
        sight.less_shanten[kind] = FAR
        if hand34[kind] > 0:
            hand34[kind] -= 1
            sight.less_shanten[kind], sight.less_mask[kind] = accepted(hand34, melds)
            hand34[kind] += 1
    for kind in range(KINDS):
        if sight.unseen34[kind] > 0 and mask & bit(kind) != _NONE:
            _look_at_helpful_draw(sight, kind)
    if distance == 1:
        for at in range(KINDS):
            if sight.at_shanten[at] == 1:
                sight.evaluated[at] = 1
                for kind in range(KINDS):
                    sight.next_wait[at, kind] = sight.at_copies[kind] if sight.at_shanten[kind] == 0 else 0


@kernel(inline="always")
def _look_at_helpful_draw(sight: Any, drawn: int) -> None:
    """The discard after it that accepts the most copies, then the most kinds."""
    hand34 = sight.hand34
    unseen34 = sight.unseen34
    sight.at_shanten[drawn] = sight.shanten - 1
    sight.at_copies[drawn], sight.at_kinds[drawn] = -1, 0
    unseen34[drawn] -= 1
    for discarded in range(KINDS):
        if sight.less_shanten[discarded] != sight.shanten or sight.less_mask[discarded] & bit(drawn) == _NONE:
            continue
        hand34[discarded] -= 1
        hand34[drawn] += 1
        _, mask = accepted(hand34, int(sight.melds))
        hand34[drawn] -= 1
        hand34[discarded] += 1
        copies, kinds = _count(mask, unseen34)
        best, most = sight.at_copies[drawn], sight.at_kinds[drawn]
        if copies > best or (copies == best and kinds > most):
            sight.at_copies[drawn], sight.at_kinds[drawn] = copies, kinds
            sight.at_mask[drawn], sight.at_discards[drawn] = mask, bit(discarded)
        elif copies == best and kinds == most:
            sight.at_discards[drawn] |= bit(discarded)
    unseen34[drawn] += 1
