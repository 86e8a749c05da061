"""Winning hands within a few tiles of a hand, built from the possible completions of each suit.

A hand that can be read in several ways, or completed through different discards, is several targets;
`policies.features.deep.credit` counts each multiset of missing tiles once, at its highest value. The search
is exhaustive: 6,467 hands of real games had 154 targets on average and 1,837 at most, random hands of a
single suit at most 3,715.
"""

from __future__ import annotations

from typing import Any, Final

from game.scoring.fast import pair_flags
from game.scoring.hand_parts import F_MELDS, bit_count
from game.scoring.set_patterns import DORA, HAS_OUTER
from game.shanten import shanten_seven_pairs, shanten_thirteen_orphans
from kit.jit import kernel
from policies.features.deep.credit import (
    SETS_AND_PAIR,
    SEVEN_PAIRS,
    THIRTEEN_ORPHANS,
    clear,
    find_furiten,
    note,
)
from policies.features.deep.memory import (
    I_ADDED,
    I_FLAGS,
    I_KINDS,
    I_MASK,
    I_SURPLUS,
    I_WEIGHT,
    KINDS,
    MOST_MISSING,
)
from policies.features.deep.suits import bucket

_SEVEN: Final = 7


@kernel
def search(memory: Any, distance: int) -> None:
    """Find the winning hands near a hand of 3n+2 tiles whose suits are listed, and record their values.

    Args:
        memory: The working memory.
        distance: Shanten of the hand.
    """
    clear(memory)
    if distance <= 0:
        find_furiten(memory)
    if memory.frame[F_MELDS] == 0:
        if shanten_seven_pairs(memory.hand34) < MOST_MISSING:
            _find_seven_pairs(memory)
        if shanten_thirteen_orphans(memory.hand34) < MOST_MISSING:
            _find_orphans(memory)
    _join_suits(memory)


@kernel
def _join_suits(memory: Any) -> None:
    """Record all hands of sets and a pair."""
    sets = 4 - memory.frame[F_MELDS]
    start, filled = memory.start, memory.filled
    for im in range(memory.filled_count[0]):
        m = filled[0, im]
        for ip in range(memory.filled_count[1]):
            p = filled[1, ip]
            pair_mp, sets_mp, missing_mp = m // 20 + p // 20, m // 4 % 5 + p // 4 % 5, m % 4 + p % 4
            if pair_mp > 1 or sets_mp > sets or missing_mp > MOST_MISSING:
                continue
            for js in range(memory.filled_count[2]):
                s = filled[2, js]
                pair, own, missing = pair_mp + s // 20, sets_mp + s // 4 % 5, missing_mp + s % 4
                if pair > 1 or own > sets:
                    continue
                for left in range(MOST_MISSING + 1 - missing):
                    z = bucket(1 - pair, sets - own, left)
                    if start[3, z] < start[3, z + 1]:
                        _join_buckets(memory, m, p, s, z, missing + left)


@kernel
def _join_buckets(memory: Any, m: int, p: int, s: int, z: int, missing: int) -> None:
    items, order, start = memory.items, memory.order, memory.start
    missing_m, missing_p, missing_s = 6 * (m % 4), 6 * (p % 4), 6 * (s % 4)
    for im in range(start[0, m], start[0, m + 1]):
        memory.chosen[0] = order[0, im]
        a = items[0, memory.chosen[0]]
        for ip in range(start[1, p], start[1, p + 1]):
            memory.chosen[1] = order[1, ip]
            b = items[1, memory.chosen[1]]
            kinds_mp = a[I_KINDS] | b[I_KINDS] << missing_m
            weight_mp = a[I_WEIGHT] * b[I_WEIGHT]
            surplus_mp = a[I_SURPLUS] | b[I_SURPLUS]
            added_mp = a[I_ADDED] + b[I_ADDED]
            flags_mp = a[I_FLAGS] | b[I_FLAGS]
            mask_mp = a[I_MASK] & b[I_MASK]
            for js in range(start[2, s], start[2, s + 1]):
                memory.chosen[2] = order[2, js]
                c = items[2, memory.chosen[2]]
                kinds = kinds_mp | c[I_KINDS] << missing_m + missing_p
                weight = weight_mp * c[I_WEIGHT]
                surplus = surplus_mp | c[I_SURPLUS]
                added = added_mp + c[I_ADDED]
                flags = flags_mp | c[I_FLAGS]
                mask = mask_mp & c[I_MASK]
                for iz in range(start[3, z], start[3, z + 1]):
                    memory.chosen[3] = order[3, iz]
                    d = items[3, memory.chosen[3]]
                    note(
                        memory,
                        SETS_AND_PAIR,
                        missing,
                        kinds | d[I_KINDS] << missing_m + missing_p + missing_s,
                        weight * d[I_WEIGHT],
                        surplus | d[I_SURPLUS],
                        added + d[I_ADDED],
                        flags | d[I_FLAGS],
                        mask & d[I_MASK],
                    )


# --- the two other forms ----------------------------------------------------------------------------------


@kernel
def _find_seven_pairs(memory: Any) -> None:
    """Choose among the kinds held twice, once and not at all; at most one kind not held is near enough."""
    twice, once = 0, 0
    for kind in range(KINDS):
        twice |= (memory.hand34[kind] >= 2) << kind
        once |= (memory.hand34[kind] == 1) << kind
    chosen_twice = twice
    while True:
        _choose_once(memory, chosen_twice, once)
        if chosen_twice == 0:
            return
        chosen_twice = (chosen_twice - 1) & twice


@kernel
def _choose_once(memory: Any, chosen_twice: int, once: int) -> None:
    pairs = bit_count(chosen_twice)
    if pairs > _SEVEN or 2 * (_SEVEN - pairs) - bit_count(once) > MOST_MISSING:
        return
    chosen_once = once
    while True:
        singles = bit_count(chosen_once)
        rest = _SEVEN - pairs - singles
        if 0 <= rest <= 1 and singles + 2 * rest <= MOST_MISSING:
            chosen = chosen_twice | chosen_once
            if rest == 0:
                _mark_seven_pairs(memory, chosen)
            else:
                for kind in range(KINDS):
                    if memory.hand34[kind] == 0 and memory.unseen34[kind] >= 2:
                        _mark_seven_pairs(memory, chosen | 1 << kind)
        if chosen_once == 0:
            return
        chosen_once = (chosen_once - 1) & once


@kernel
def _mark_seven_pairs(memory: Any, chosen: int) -> None:
    missing, kinds, weight, surplus, flags, dora = 0, 0, 1, 0, 0, 0
    for kind in range(KINDS):
        held = memory.hand34[kind]
        if chosen >> kind & 1 == 0:
            if held:
                surplus |= 1 << memory.place[kind]
            continue
        flags |= pair_flags(kind)
        dora += 2 * memory.dora34[kind]
        if kind in (4, 13, 22) and held:
            dora += memory.reds[kind // 9]
        if held > 2:
            surplus |= 1 << memory.place[kind]
        for copy in range(2 - held):
            kinds |= kind << 6 * missing
            missing += 1
            weight = weight * max(0, memory.unseen34[kind] - copy) // (copy + 1)
    if weight:
        note(memory, SEVEN_PAIRS, missing, kinds, weight, surplus, dora << DORA, flags, 0)


@kernel
def _find_orphans(memory: Any) -> None:
    for pair in range(KINDS):
        if pair_flags(pair) & HAS_OUTER:
            _mark_orphans(memory, pair)


@kernel
def _mark_orphans(memory: Any, pair: int) -> None:
    missing, kinds, weight, surplus = 0, 0, 1, 0
    for kind in range(KINDS):
        wanted = ((pair_flags(kind) & HAS_OUTER) != 0) + (kind == pair)
        held = memory.hand34[kind]
        if held > wanted:
            surplus |= 1 << memory.place[kind]
        for copy in range(wanted - held):
            if missing < MOST_MISSING:
                kinds |= kind << 6 * missing
            missing += 1
            weight = weight * max(0, memory.unseen34[kind] - copy) // (copy + 1)
    if weight and missing <= MOST_MISSING:
        note(memory, THIRTEEN_ORPHANS, missing, kinds, weight, surplus, 0, 0, 0)
