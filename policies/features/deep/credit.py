"""Records the value of the winning hands found for each discard, once per multiset of missing tiles."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.fast_scoring import pattern_points, seven_pairs_points, thirteen_orphans_points
from game.hand_parts import F_ADDED, F_FLAGS, F_MELDS, ways_to_complete
from game.jit import kernel
from game.set_patterns import DORA, SUIT_KINDS, WAIT
from game.shanten import waits
from policies.features.deep.desk import I_PAIR, I_PATTERN, KINDS, MOST_MISSING, MULTISETS

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
def number_kinds(desk: Any) -> None:
    """Number the kinds in the hand."""
    desk.kinds = 0
    for kind in range(KINDS):
        if desk.hand34[kind]:
            desk.place[kind] = desk.kinds
            desk.kinds += 1


@kernel
def clear(desk: Any) -> None:
    """Forget the values recorded so far."""
    for place in range(desk.kinds):
        desk.weights[place] = 0
    desk.best[: desk.kinds * MULTISETS] = 0


@kernel
def find_furiten(desk: Any) -> None:
    """Fill ``furiten``; it matters only if some discard leaves the hand tenpai."""
    for kind in range(KINDS):
        if desk.hand34[kind]:
            desk.hand34[kind] -= 1
            wanted = waits(desk.hand34, int(desk.frame[F_MELDS]))
            desk.hand34[kind] += 1
            thrown = desk.river | _ONE << np.uint64(kind)
            desk.furiten[kind] = desk.barred != 0 or wanted & thrown != _NONE


@kernel
def note(
    desk: Any,
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
        desk: The working memory; for sets and a pair ``chosen`` has the items.
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
        level = _level(desk, form, added, flags, mask, False)
        if level:
            number = _number(missing, kinds & 63, kinds >> 6 & 63, kinds >> 12)
            _raise_all(desk, surplus, number, missing, level, weight)
    elif missing == 1:
        _note_waits(desk, form, kinds, weight, surplus, added, flags, mask)
    if missing < MOST_MISSING:
        _note_detours(desk, form, missing, kinds, surplus, added, flags, mask)


@kernel
def _note_waits(
    desk: Any, form: int, kind: int, weight: int, surplus: int, added: int, flags: int, mask: int
) -> None:
    """Record a target that lacks one tile: after a discard that makes the hand furiten only tsumo counts."""
    by_ron = _level(desk, form, added, flags, mask, False)
    for thrown in range(KINDS):
        if desk.hand34[thrown] and surplus >> desk.place[thrown] & 1:
            level = _level(desk, form, added, flags, mask, True) if desk.furiten[thrown] else by_ron
            _raise(desk, desk.place[thrown], _number(1, kind, 0, 0), 1, level, weight)


@kernel
def _note_detours(
    desk: Any, form: int, missing: int, kinds: int, surplus: int, added: int, flags: int, mask: int
) -> None:
    """Record a target for discards of tiles it needs: each must be drawn again."""
    for thrown in range(KINDS):
        if desk.hand34[thrown] == 0 or surplus >> desk.place[thrown] & 1:
            continue
        more = _insert(kinds, missing, thrown)
        weight = _weight(desk, more, missing + 1)
        if weight == 0:
            continue
        sum_of = added
        if thrown % SUIT_KINDS == _RED_PLACE and thrown < 27 and desk.hand34[thrown] == 1:
            sum_of -= int(desk.reds[thrown // SUIT_KINDS]) << DORA
        alone = missing == 0 and desk.furiten[thrown] != 0
        level = _level(desk, form, sum_of, flags | _ways(desk, form, thrown), mask, alone)
        number = _number(missing + 1, more & 63, more >> 6 & 63, more >> 12)
        _raise(desk, desk.place[thrown], number, missing + 1, level, weight)


@kernel
def _level(desk: Any, form: int, added: int, flags: int, mask: int, is_tsumo: bool) -> int:
    frame = desk.frame
    if form == SETS_AND_PAIR:
        points = pattern_points(frame[F_ADDED] + added, frame[F_FLAGS] | flags, mask, is_tsumo, frame)
    elif form == SEVEN_PAIRS:
        points = seven_pairs_points(flags, added >> DORA, is_tsumo, frame)
    else:
        points = thirteen_orphans_points(is_tsumo, frame)
    return int(_LEVEL_OF[min(points // 1000, 32)])


@kernel
def _ways(desk: Any, form: int, kind: int) -> int:
    """Flags of the ways in which a kind may have completed the current target."""
    if form != SETS_AND_PAIR:
        return 0
    suit = kind // SUIT_KINDS
    item = desk.items[suit, desk.chosen[suit]]
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
def _weight(desk: Any, kinds: int, missing: int) -> int:
    """Number of ways to pick missing tiles from the unseen ones."""
    weight = 1
    equal = 0
    for i in range(missing):
        kind = kinds >> 6 * i & 63
        equal = equal + 1 if i and kind == kinds >> 6 * (i - 1) & 63 else 0
        weight = weight * max(0, desk.unseen34[kind] - equal) // (equal + 1)
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
def _raise_all(desk: Any, surplus: int, number: int, missing: int, level: int, weight: int) -> None:
    while surplus:
        low = surplus & -surplus
        surplus ^= low
        _raise(desk, _LOG[low % _HASH], number, missing, level, weight)


@kernel
def _raise(desk: Any, place: int, number: int, missing: int, level: int, weight: int) -> None:
    """Raise a multiset of missing tiles to this level for a discard, unless its level is already higher."""
    at = place * MULTISETS + number
    before = desk.best[at]
    if level > before:
        desk.best[at] = level
        if before:
            desk.weights[place, missing - 1, before] -= weight
        desk.weights[place, missing - 1, level] += weight
