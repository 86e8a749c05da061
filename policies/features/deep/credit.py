"""Records the value of the winning hands found for each discard, once per multiset of missing tiles."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.scoring.fast import pattern_points, seven_pairs_points, thirteen_orphans_points
from game.scoring.hand_parts import F_ADDED, F_FLAGS, F_MELDS, ways_to_complete
from game.scoring.set_patterns import DORA, SUIT_KINDS, WAIT
from game.shanten import waits
from kit.jit import kernel
from policies.features.deep.memory import I_PAIR, I_PATTERN, KINDS, MOST_MISSING, MULTISETS

THRESHOLDS: Final = (1000, 2000, 3000, 4000, 5000, 6000, 8000, 10000, 12000, 16000, 24000, 32000)
"""Thresholds in points; a hand's level is how many of them it reaches, and 0 without a win."""

SETS_AND_PAIR: Final = 0
SEVEN_PAIRS: Final = 1
THIRTEEN_ORPHANS: Final = 2

_LEVEL_OF: Final = np.array(
    [sum(1000 * thousands >= least for least in THRESHOLDS) for thousands in range(33)], dtype=np.int64
)
_PAIRS_FROM: Final = KINDS
_TRIPLES_FROM: Final = _PAIRS_FROM + KINDS * (KINDS + 1) // 2
_RED_PLACE: Final = 4
_HASH: Final = 19
"""Powers of two up to 2**17 have distinct remainders modulo this."""
_LOG: Final = np.array([next((i for i in range(18) if 2**i % _HASH == rest), 0) for rest in range(_HASH)])
_ONE: Final = np.uint64(1)
_NONE: Final = np.uint64(0)


@kernel
def number_kinds(memory: Any) -> None:
    """Number the kinds in the hand."""
    memory.kinds = 0
    for kind in range(KINDS):
        if memory.hand34[kind]:
            memory.place[kind] = memory.kinds
            memory.kinds += 1


@kernel
def clear(memory: Any) -> None:
    """Forget the values recorded so far."""
    for place in range(memory.kinds):
        memory.weights[place] = 0
    memory.best[: memory.kinds * MULTISETS] = 0


@kernel
def find_furiten(memory: Any) -> None:
    """Fill ``furiten``; it matters only if some discard leaves the hand tenpai."""
    for kind in range(KINDS):
        if memory.hand34[kind]:
            memory.hand34[kind] -= 1
            wanted = waits(memory.hand34, int(memory.frame[F_MELDS]))
            memory.hand34[kind] += 1
            discarded = memory.river | _ONE << np.uint64(kind)
            memory.furiten[kind] = memory.barred != 0 or wanted & discarded != _NONE


@kernel
def note(
    memory: Any,
    form: int,
    missing: int,
    kinds: int,
    weight: int,
    surplus: int,
    added: int,
    flags: int,
    mask: int,
) -> None:
    """Record a target: one way to read a winning hand.

    Args:
        memory: The working memory; for sets and a pair ``chosen`` has the items.
        form: `SETS_AND_PAIR`, `SEVEN_PAIRS` or `THIRTEEN_ORPHANS`.
        missing: Number of missing tiles.
        kinds: The missing kinds, ascending, as in an item.
        weight: Number of ways to pick them from the unseen tiles.
        surplus: Kinds with a surplus tile, as in an item.
        added: As for `pattern_points`, without the frame's part; for seven pairs the dora only.
        flags: Likewise, without those of the frame.
        mask: Likewise.
    """
    if missing > 1:
        level = _level(memory, form, added, flags, mask, False)
        if level:
            number = _number(missing, kinds & 63, kinds >> 6 & 63, kinds >> 12)
            _raise_all(memory, surplus, number, missing, level, weight)
    elif missing == 1:
        _mark_waits(memory, form, kinds, weight, surplus, added, flags, mask)
    if missing < MOST_MISSING:
        _mark_detours(memory, form, missing, kinds, surplus, added, flags, mask)


@kernel
def _mark_waits(
    memory: Any, form: int, kind: int, weight: int, surplus: int, added: int, flags: int, mask: int
) -> None:
    """Record a target that lacks one tile: after a discard that makes the hand furiten only tsumo counts."""
    by_ron = _level(memory, form, added, flags, mask, False)
    for discarded in range(KINDS):
        if memory.hand34[discarded] and surplus >> memory.place[discarded] & 1:
            level = _level(memory, form, added, flags, mask, True) if memory.furiten[discarded] else by_ron
            _raise(memory, memory.place[discarded], _number(1, kind, 0, 0), 1, level, weight)


@kernel
def _mark_detours(
    memory: Any, form: int, missing: int, kinds: int, surplus: int, added: int, flags: int, mask: int
) -> None:
    """Record a target for discards of tiles it needs: each must be drawn again."""
    for discarded in range(KINDS):
        if memory.hand34[discarded] == 0 or surplus >> memory.place[discarded] & 1:
            continue
        more = _insert(kinds, missing, discarded)
        weight = _weight(memory, more, missing + 1)
        if weight == 0:
            continue
        sum_of = added
        if discarded % SUIT_KINDS == _RED_PLACE and discarded < 27 and memory.hand34[discarded] == 1:
            sum_of -= int(memory.reds[discarded // SUIT_KINDS]) << DORA
        alone = missing == 0 and memory.furiten[discarded] != 0
        level = _level(memory, form, sum_of, flags | _ways(memory, form, discarded), mask, alone)
        number = _number(missing + 1, more & 63, more >> 6 & 63, more >> 12)
        _raise(memory, memory.place[discarded], number, missing + 1, level, weight)


@kernel
def _level(memory: Any, form: int, added: int, flags: int, mask: int, is_tsumo: bool) -> int:
    frame = memory.frame
    if form == SETS_AND_PAIR:
        points = pattern_points(frame[F_ADDED] + added, frame[F_FLAGS] | flags, mask, is_tsumo, frame)
    elif form == SEVEN_PAIRS:
        points = seven_pairs_points(flags, added >> DORA, is_tsumo, frame)
    else:
        points = thirteen_orphans_points(is_tsumo, frame)
    return int(_LEVEL_OF[min(points // 1000, 32)])


@kernel
def _ways(memory: Any, form: int, kind: int) -> int:
    """Flags of the ways in which a kind may have completed the current target."""
    if form != SETS_AND_PAIR:
        return 0
    suit = kind // SUIT_KINDS
    item = memory.items[suit, memory.chosen[suit]]
    return ways_to_complete(item[I_PATTERN], item[I_PAIR], kind % SUIT_KINDS) << WAIT


@kernel
def _insert(kinds: int, missing: int, kind: int) -> int:
    """Missing tiles plus one more."""
    at = 0
    while at < missing and (kinds >> 6 * at & 63) < kind:
        at += 1
    low = kinds & (1 << 6 * at) - 1
    return low | kind << 6 * at | (kinds ^ low) << 6


@kernel
def _weight(memory: Any, kinds: int, missing: int) -> int:
    """Number of ways to pick missing tiles from the unseen ones."""
    weight = 1
    equal = 0
    for i in range(missing):
        kind = kinds >> 6 * i & 63
        equal = equal + 1 if i and kind == kinds >> 6 * (i - 1) & 63 else 0
        weight = weight * max(0, memory.unseen34[kind] - equal) // (equal + 1)
    return weight


@kernel
def _number(missing: int, a: int, b: int, c: int) -> int:
    """The index of a multiset of kinds among those of its size and the smaller ones."""
    if missing == 1:
        return a
    if missing == 2:
        return _PAIRS_FROM + b * (b + 1) // 2 + a
    return _TRIPLES_FROM + c * (c + 1) * (c + 2) // 6 + b * (b + 1) // 2 + a


@kernel
def _raise_all(memory: Any, surplus: int, number: int, missing: int, level: int, weight: int) -> None:
    while surplus:
        low = surplus & -surplus
        surplus ^= low
        _raise(memory, _LOG[low % _HASH], number, missing, level, weight)


@kernel
def _raise(memory: Any, place: int, number: int, missing: int, level: int, weight: int) -> None:
    """Raise a multiset of missing tiles to this level for a discard, unless its level is already higher."""
    at = place * MULTISETS + number
    before = memory.best[at]
    if level > before:
        memory.best[at] = level
        if before:
            memory.weights[place, missing - 1, before] -= weight
        memory.weights[place, missing - 1, level] += weight
