"""LA3: the quality of the hand at each of the 34 positions, counting own draws only.

The chances are those of a chain of levels, one for each tile still missing: with U unseen tiles, a player's
draw i (from 0) advances one level with probability accepted/(U - i). The first level's accepted copies are
the position's own. For a position one away at the least shanten, one further draw is evaluated (`sight`):
each kind accepted leads to its own best wait. All other levels below use `TYPICAL` copies. Calls, opponents
and changes of shape at one level are ignored.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fold.reasons import bit
from kit.jit import kernel
from policies.features.draw import real
from policies.features.sight import FAR, GOOD_WAIT
from policies.features.table import KINDS, ONE
from policies.features.worth import (
    has_run,
    is_simple,
    melds_fit,
    missing_to_simples,
    missing_to_suit,
    missing_to_triplets,
    missing_to_value,
    promise,
)

TYPICAL: Final = np.array([5, 12, 23, 41, 60, 80, 100], dtype=np.float64)
"""Accepted copies of a hand on arrival at this many tiles from tenpai. Observed in real games."""

COPIES: Final = np.array([1, 4, 8, 12, 16, 20, 28, 40], dtype=np.int64)
KIND_STEPS: Final = np.array([1, 2, 4, 8], dtype=np.int64)
HORIZONS: Final = np.array([3, 6, 9, 127], dtype=np.int64)
VALUE_SCALE: Final = 32_000.0

_LEVELS: Final = len(TYPICAL)
_NONE: Final = np.uint64(0)

# planes within the group, in the order of the table
_DISTANCE: Final = 0
_COPIES: Final = 3
_KINDS: Final = 11
_GOOD: Final = 15
_READY: Final = 19
_WIN: Final = 23
_VALUE: Final = 27
_YAKU: Final = 31


@kernel
def mark_efficiency(rec: Any, sight: Any, out: Any, at: int) -> None:
    """The 36 planes of LA3, from plane ``at`` on."""
    least = FAR
    for kind in range(KINDS):
        least = min(least, sight.at_shanten[kind])
    if least == FAR:
        return
    for i in range(sight.draws):
        sight.odds[i] = 1.0 / max(float(sight.unseen - i), 1.0)
    done_shanten, done_copies, done_evaluated = FAR, -1, False
    for kind in range(KINDS):
        if sight.at_shanten[kind] == FAR:
            continue
        out[at + _DISTANCE + min(2, sight.at_shanten[kind] - least), kind] = ONE
        _mark_accepted(sight, out, at, kind)
        # without the further draw, and for all draws that do not help, equal numbers have equal chances
        evaluated = bool(sight.evaluated[kind])
        if (
            sight.at_shanten[kind] != done_shanten
            or sight.at_copies[kind] != done_copies
            or evaluated != done_evaluated
            or (evaluated and sight.discards)
        ):
            chances(sight, kind)
            done_shanten, done_copies, done_evaluated = (
                sight.at_shanten[kind],
                sight.at_copies[kind],
                evaluated,
            )
        points = _best_promise(rec, sight, kind)
        for i in range(len(HORIZONS)):
            out[at + _READY + i, kind] = real(sight.ready[i])
            out[at + _WIN + i, kind] = real(sight.won[i])
            out[at + _VALUE + i, kind] = real(np.sqrt(sight.won[i] * points / VALUE_SCALE))
    _mark_yaku(rec, sight, out, at + _YAKU)


@kernel
def _mark_accepted(sight: Any, out: Any, at: int, kind: int) -> None:
    for i in range(len(COPIES)):
        if sight.at_copies[kind] >= COPIES[i]:
            out[at + _COPIES + i, kind] = ONE
    for i in range(len(KIND_STEPS)):
        if sight.at_kinds[kind] >= KIND_STEPS[i]:
            out[at + _KINDS + i, kind] = ONE
    if not sight.evaluated[kind] or sight.at_copies[kind] <= 0:
        return
    good = 0
    for drawn in range(KINDS):
        if sight.at_mask[kind] & bit(drawn) != _NONE and sight.next_wait[kind, drawn] >= GOOD_WAIT:
            good += sight.unseen34[drawn]
    for i in range(4):
        if 4 * good >= (i + 1) * sight.at_copies[kind]:
            out[at + _GOOD + i, kind] = ONE


@kernel
def chances(sight: Any, kind: int) -> None:
    """Fill the sight's ``ready`` and ``won`` of a position for each of `HORIZONS`."""
    distance = int(sight.at_shanten[kind])
    if distance < 0:
        sight.ready[:] = 1.0
        sight.won[:] = 1.0
        return
    levels = min(distance, _LEVELS - 1)
    sight.mass[:] = 0.0
    sight.mass[levels] = 1.0
    done = 0.0
    drawn = 0
    evaluated = bool(sight.evaluated[kind])
    if evaluated:
        sight.wait_mass[:] = 0.0
    for horizon in range(len(HORIZONS)):
        while drawn < min(int(sight.draws), HORIZONS[horizon]):
            if evaluated:
                done += _draw_looked(sight, kind, sight.odds[drawn])
            else:
                done += _draw(sight, kind, levels, sight.odds[drawn])
            drawn += 1
        sight.ready[horizon] = done + sight.mass[0]
        sight.won[horizon] = done


@kernel
def _draw(sight: Any, kind: int, levels: int, odds: float) -> float:
    """Move the mass of levels ``levels`` to 0 by one draw; returns the mass that wins."""
    won = 0.0
    for level in range(levels + 1):
        copies = float(sight.at_copies[kind]) if level == levels else TYPICAL[level]
        moved = sight.mass[level] * min(1.0, copies * odds)
        sight.mass[level] -= moved
        if level == 0:
            won = moved
        else:
            sight.mass[level - 1] += moved
    return won


@kernel
def _draw_looked(sight: Any, kind: int, odds: float) -> float:
    """The same from one away, where each kind accepted leads to a wait of its own."""
    won = 0.0
    for drawn in range(KINDS):
        if sight.at_mask[kind] & bit(drawn) == _NONE or sight.unseen34[drawn] <= 0:
            continue
        moved = sight.wait_mass[drawn] * min(1.0, sight.next_wait[kind, drawn] * odds)
        won += moved
        sight.wait_mass[drawn] += sight.mass[1] * min(1.0, sight.unseen34[drawn] * odds) - moved
    moved = sight.mass[1] * min(1.0, sight.at_copies[kind] * odds)
    sight.mass[1] -= moved
    sight.mass[0] += moved - won
    return won


@kernel
def _best_promise(rec: Any, sight: Any, kind: int) -> int:
    """Points the position promises; of several best discards the most valuable counts."""
    if sight.discards:
        return promise(rec, sight, -1, kind)
    if sight.at_discards[kind] == _NONE:
        return promise(rec, sight, kind, -1)
    best = 0
    for discarded in range(KINDS):
        if sight.at_discards[kind] & bit(discarded) != _NONE:
            best = max(best, promise(rec, sight, kind, discarded))
    return best


@kernel
def _mark_yaku(rec: Any, sight: Any, out: Any, at: int) -> None:
    hand34, melds, room34 = sight.hand34, int(sight.melds), sight.rest34
    step = -1 if sight.discards else 1
    simples = melds_fit(rec, sight, -1)
    triplets = not has_run(rec, sight.me)
    with_simples = missing_to_simples(hand34, melds, room34)
    for kind in range(KINDS):
        if sight.at_shanten[kind] == FAR:
            continue
        hand34[kind] += step
        if simples:
            missing = missing_to_simples(hand34, melds, room34) if is_simple(kind) else with_simples
            _mark_missing(out, at, kind, missing)
        _mark_missing(out, at + 1, kind, missing_to_value(rec, sight, room34))
        if triplets:
            _mark_missing(out, at + 3, kind, missing_to_triplets(hand34, melds))
        if sight.may_riichi:
            _mark_missing(out, at + 4, kind, sight.at_shanten[kind] + 1)
        hand34[kind] -= step
    for suit in range(3):
        if melds_fit(rec, sight, suit):
            _mark_suit(sight, suit, out, at + 2)


@kernel
def _mark_suit(sight: Any, suit: int, out: Any, plane: int) -> None:
    """One suit at every position, where it is nearer than the previous suits."""
    hand34, melds, room34 = sight.hand34, int(sight.melds), sight.rest34
    step = -1 if sight.discards else 1
    outside = missing_to_suit(hand34, melds, suit, room34)
    for kind in range(KINDS):
        if sight.at_shanten[kind] == FAR:
            continue
        missing = outside
        if kind >= 27 or kind // 9 == suit:
            hand34[kind] += step
            missing = missing_to_suit(hand34, melds, suit, room34)
            hand34[kind] -= step
        _mark_missing(out, plane, kind, missing)


@kernel
def _mark_missing(out: Any, plane: int, kind: int, missing: int) -> None:
    """Write 1/(1+n), unless the plane has a larger value; n is -1 for out of reach."""
    if missing >= 0:
        out[plane, kind] = max(out[plane, kind], real(1.0 / (1 + missing)))
