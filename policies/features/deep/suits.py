"""What each suit of a hand may become within a few tiles: the items that targets are put together from."""

from __future__ import annotations

from typing import Any, Final

from game.hand_parts import F_MELDS, describe, is_nine_gates, ways_to_complete
from game.jit import kernel
from game.set_patterns import (
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
from policies.features.deep.desk import (
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
    MOST_TARGETS,
)

_GUARD: Final = NIBBLES << 3
_RED_PLACE: Final = 4
_FAR: Final = 99


@kernel
def list_items(desk: Any) -> bool:
    """List what every suit may become; false if no hand of sets and a pair is near enough.

    An item is listed when its missing tiles are unseen, and the other suits could still do their part with
    what is left of `MOST_MISSING`. ``desk.order`` holds the items by bucket.
    """
    sets = 4 - desk.frame[F_MELDS]
    missing_by_suit(desk.hand34, desk.least)
    _share_out(desk.least, sets, MOST_MISSING, desk.room)
    for suit in range(4):
        desk.count[suit] = 0
        _list_suit(desk, suit, sets)
        if desk.count[suit] == 0:
            return False
        _sort_items(desk, suit)
    return True


@kernel
def _share_out(least: Any, sets: int, most: int, room: Any) -> None:
    """Fill ``room``: what a suit may miss, the other three doing the rest as cheaply as they can."""
    for suit in range(4):
        a, b, c = (suit + 1) & 3, (suit + 2) & 3, (suit + 3) & 3
        for pair in range(2):
            for own in range(5):
                room[suit, pair, own] = -1
                rest = sets - own
                if rest >= 0:
                    room[suit, pair, own] = most - _cheapest(least[a], least[b], least[c], rest, 1 - pair)


@kernel
def _cheapest(a: Any, b: Any, c: Any, sets: int, pair: int) -> int:
    """Tiles that three suits miss to so many sets, and to the pair if it is theirs."""
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
def _list_suit(desk: Any, suit: int, sets: int) -> None:
    kinds = HONOUR_KINDS if suit == 3 else SUIT_KINDS
    hand, unseen = _packed(desk.hand34, suit, kinds), _packed(desk.unseen34, suit, kinds)
    pattern = SUIT_PATTERNS if suit == 3 else 0
    end = PATTERNS if suit == 3 else SUIT_PATTERNS
    while pattern < end:
        counts = pattern_counts(pattern)
        own = pattern_sets(pattern)
        needed = _excess(counts, hand)
        missing = _sum(needed)
        if own > sets or missing > _most_from(desk.room, suit, own) or not _fits(needed, unseen):
            pattern = pattern_end(pattern)
            continue
        if missing <= desk.room[suit, 0, own]:
            _add_item(desk, suit, pattern, -1, counts, hand)
        limit = desk.room[suit, 1, own]
        if missing <= limit:
            for place in range(kinds):
                paired = counts + (2 << 4 * place)
                if counts >> 4 * place & 15 > 2:
                    continue
                needed = _excess(paired, hand)
                if _sum(needed) <= limit and _fits(needed, unseen):
                    _add_item(desk, suit, pattern, place, paired, hand)
        pattern += 1


@kernel
def _most_from(room: Any, suit: int, sets: int) -> int:
    """What the suit may miss with these sets and perhaps more."""
    most = -1
    for own in range(sets, 5):
        most = max(most, room[suit, 0, own], room[suit, 1, own])
    return most


@kernel
def _packed(counts34: Any, suit: int, kinds: int) -> int:
    packed = 0
    for place in range(kinds):
        packed |= int(counts34[SUIT_KINDS * suit + place]) << 4 * place
    return packed


@kernel
def _excess(a: int, b: int) -> int:
    """Packed counts of what ``a`` has more than ``b``."""
    difference = (a | _GUARD) - b
    more = difference & _GUARD
    return difference & more - (more >> 3)


@kernel
def _fits(a: int, b: int) -> bool:
    """Whether no count of ``a`` is greater than that of ``b``."""
    return (b | _GUARD) - a & _GUARD == _GUARD


@kernel
def _sum(counts: int) -> int:
    return counts * NIBBLES >> 32 & 15


@kernel
def _add_item(desk: Any, suit: int, pattern: int, pair: int, counts: int, hand: int) -> None:
    number = desk.count[suit]
    if number == MOST_TARGETS:
        return
    added, flags, mask = describe(suit, pattern, pair, desk.frame)
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
        dora += wanted * desk.dora34[first + place]
        if wanted < held:
            surplus |= 1 << desk.place[first + place]
        for copy in range(wanted - held):
            missing_kinds |= first + place << 6 * missing
            missing += 1
            weight = weight * (desk.unseen34[first + place] - copy) // (copy + 1)
    if suit < 3 and desk.reds[suit] and counts >> 4 * _RED_PLACE & 15:
        dora += 1
    item = desk.items[suit, number]
    item[I_KINDS] = missing_kinds
    item[I_WEIGHT] = weight
    item[I_SURPLUS] = surplus
    item[I_ADDED] = added + (dora << DORA)
    item[I_FLAGS] = flags | _waits_flag(pattern, pair, missing_kinds, missing, first)
    item[I_MASK] = mask
    item[I_PATTERN], item[I_PAIR] = pattern, pair
    item[I_BUCKET] = bucket(int(pair >= 0), pattern_sets(pattern), missing)
    desk.count[suit] = number + 1


@kernel
def _waits_flag(pattern: int, pair: int, missing_kinds: int, missing: int, first: int) -> int:
    """How any of the missing tiles, if it comes last, can complete the item."""
    found = 0
    for i in range(missing):
        found |= ways_to_complete(pattern, pair, (missing_kinds >> 6 * i & 63) - first)
    return found << WAIT


@kernel
def bucket(pair: int, sets: int, missing: int) -> int:
    """Number of the bucket of a suit's items."""
    return (pair * 5 + sets) * 4 + missing


@kernel
def _sort_items(desk: Any, suit: int) -> None:
    """Fill ``order`` and ``start``."""
    start = desk.start[suit]
    start[:] = 0
    for number in range(desk.count[suit]):
        start[desk.items[suit, number, I_BUCKET] + 1] += 1
    for i in range(BUCKETS):
        start[i + 1] += start[i]
    for number in range(desk.count[suit]):
        at = desk.items[suit, number, I_BUCKET]
        desk.order[suit, start[at]] = number
        start[at] += 1
    for i in range(BUCKETS, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
