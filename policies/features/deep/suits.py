"""The possible completions of each suit within a few tiles: the items that targets are built from."""

from __future__ import annotations

from typing import Any, Final

from game.scoring.hand_parts import F_MELDS, describe, is_nine_gates, ways_to_complete
from game.scoring.set_patterns import (
    DORA,
    HONOUR_KINDS,
    NIBBLES,
    PATTERNS,
    SUIT_KINDS,
    SUIT_PATTERNS,
    WAIT,
    YAKUMAN,
    pattern_counts,
    pattern_end,
    pattern_sets,
)
from game.shanten import missing_by_suit
from kit.jit import kernel
from policies.features.deep.memory import (
    BUCKETS,
    I_ADDED,
    I_BUCKET,
    I_FLAGS,
    I_KINDS,
    I_MASK,
    I_PAIR,
    I_PATTERN,
    I_SURPLUS,
    I_WEIGHT,
    MOST_MISSING,
)

_GUARD: Final = NIBBLES << 3
_RED_PLACE: Final = 4
_FAR: Final = 99


@kernel
def limit_missing(memory: Any) -> None:
    """Compute how many tiles each suit may lack while the other three complete as cheaply as possible."""
    sets = 4 - memory.frame[F_MELDS]
    least = memory.least
    missing_by_suit(memory.hand34, least)
    for suit in range(4):
        a, b, c = least[(suit + 1) & 3], least[(suit + 2) & 3], least[(suit + 3) & 3]
        for pair in range(2):
            for own in range(sets + 1):
                memory.may_lack[suit, pair, own] = MOST_MISSING - _cheapest(a, b, c, sets - own, 1 - pair)


@kernel
def _cheapest(a: Any, b: Any, c: Any, sets: int, pair: int) -> int:
    """Tiles that three suits lack for this many sets, and the pair if it is theirs."""
    best = _FAR
    for i in range(sets + 1):
        for j in range(sets + 1 - i):
            k = sets - i - j
            plain = a[0, i] + b[0, j] + c[0, k]
            if pair:
                plain += min(a[1, i] - a[0, i], b[1, j] - b[0, j], c[1, k] - c[0, k])
            best = min(best, plain)
    return best


@kernel
def list_suit(memory: Any, suit: int, spare: int) -> None:
    """List the possible completions of a suit with unseen tiles, within the limits from `limit_missing`.

    Args:
        memory: The working memory; ``order`` receives the suit's items by bucket.
        suit: 0-3.
        spare: Number of tiles by which a draw in another suit may still bring the hand closer.
    """
    sets = 4 - memory.frame[F_MELDS]
    kinds = HONOUR_KINDS if suit == 3 else SUIT_KINDS
    hand, unseen = _packed(memory.hand34, suit, kinds), _packed(memory.unseen34, suit, kinds)
    limit = memory.limit
    _set_limits(memory.may_lack[suit], sets, spare, limit)
    memory.count[suit] = 0
    pattern = SUIT_PATTERNS if suit == 3 else 0
    end = PATTERNS if suit == 3 else SUIT_PATTERNS
    while pattern < end:
        counts = pattern_counts(pattern)
        own = pattern_sets(pattern)
        needed = _excess(counts, hand)
        missing = _sum(needed)
        if own > sets or missing > limit[2, own] or not _fits(needed, unseen):
            pattern = pattern_end(pattern)
            continue
        if missing <= limit[0, own]:
            _add_item(memory, suit, pattern, -1, counts, hand)
        if missing <= limit[1, own]:
            for place in range(kinds):
                if counts >> 4 * place & 15 <= 2:
                    paired = counts + (2 << 4 * place)
                    needed = _excess(paired, hand)
                    if _sum(needed) <= limit[1, own] and _fits(needed, unseen):
                        _add_item(memory, suit, pattern, place, paired, hand)
        pattern += 1
    _sort_items(memory, suit)


@kernel
def _set_limits(may_lack: Any, sets: int, spare: int, limit: Any) -> None:
    """The tiles a suit may lack for this many sets: without the pair, with it, with possibly more sets."""
    most = -1
    for own in range(sets, -1, -1):
        limit[0, own] = min(MOST_MISSING, may_lack[0, own] + spare)
        limit[1, own] = min(MOST_MISSING, may_lack[1, own] + spare)
        most = max(most, limit[0, own], limit[1, own])
        limit[2, own] = most


@kernel
def _packed(counts34: Any, suit: int, kinds: int) -> int:
    packed = 0
    for place in range(kinds):
        packed |= int(counts34[SUIT_KINDS * suit + place]) << 4 * place
    return packed


@kernel
def _excess(a: int, b: int) -> int:
    """Packed counts of the surplus of ``a`` over ``b``."""
    difference = (a | _GUARD) - b
    more = difference & _GUARD
    return difference & more - (more >> 3)


@kernel
def _fits(a: int, b: int) -> bool:
    """Whether no count of ``a`` exceeds that of ``b``."""
    return (b | _GUARD) - a & _GUARD == _GUARD


@kernel
def _sum(counts: int) -> int:
    return counts * NIBBLES >> 32 & 15


@kernel
def _add_item(memory: Any, suit: int, pattern: int, pair: int, counts: int, hand: int) -> None:
    number = memory.count[suit]
    added, flags, mask = describe(suit, pattern, pair, memory.frame)
    if pair >= 0 and pattern_sets(pattern) == 4 and suit < 3 and is_nine_gates(counts):
        added += 1 << YAKUMAN
    missing = 0
    missing_kinds = 0
    weight = 1
    surplus = 0
    dora = 0
    first = SUIT_KINDS * suit
    for place in range(HONOUR_KINDS if suit == 3 else SUIT_KINDS):
        wanted, held = counts >> 4 * place & 15, hand >> 4 * place & 15
        dora += wanted * memory.dora34[first + place]
        if wanted < held:
            surplus |= 1 << memory.place[first + place]
        for copy in range(wanted - held):
            missing_kinds |= first + place << 6 * missing
            missing += 1
            weight = weight * (memory.unseen34[first + place] - copy) // (copy + 1)
    if suit < 3 and memory.reds[suit] and counts >> 4 * _RED_PLACE & 15:
        dora += 1
    item = memory.items[suit, number]
    item[I_KINDS] = missing_kinds
    item[I_WEIGHT] = weight
    item[I_SURPLUS] = surplus
    item[I_ADDED] = added + (dora << DORA)
    item[I_FLAGS] = flags | _waits_flag(pattern, pair, missing_kinds, missing, first)
    item[I_MASK] = mask
    item[I_PATTERN], item[I_PAIR] = pattern, pair
    item[I_BUCKET] = bucket(int(pair >= 0), pattern_sets(pattern), missing)
    memory.count[suit] = number + 1


@kernel
def _waits_flag(pattern: int, pair: int, missing_kinds: int, missing: int, first: int) -> int:
    """The ways in which any of the missing tiles, drawn last, can complete the item."""
    found = 0
    for i in range(missing):
        found |= ways_to_complete(pattern, pair, (missing_kinds >> 6 * i & 63) - first)
    return found << WAIT


@kernel
def bucket(pair: int, sets: int, missing: int) -> int:
    """Index of the bucket of a suit's items."""
    return (pair * 5 + sets) * 4 + missing


@kernel
def _sort_items(memory: Any, suit: int) -> None:
    """Fill ``order``, ``start`` and ``filled``."""
    start = memory.start[suit]
    start[:] = 0
    for number in range(memory.count[suit]):
        start[memory.items[suit, number, I_BUCKET] + 1] += 1
    filled = 0
    for i in range(BUCKETS):
        if start[i + 1]:
            memory.filled[suit, filled] = i
            filled += 1
        start[i + 1] += start[i]
    memory.filled_count[suit] = filled
    for number in range(memory.count[suit]):
        at = memory.items[suit, number, I_BUCKET]
        memory.order[suit, start[at]] = number
        start[at] += 1
    for i in range(BUCKETS, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
