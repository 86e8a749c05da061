"""Every way to choose up to four sets in one suit, with its value to a hand, as tables for kernels.

A *pattern* is a multiset of sets: sequences and triplets of one suit, or triplets of honours. Those of a suit
are in preorder, each right before the patterns that extend it, so that a search can skip all extensions of a
pattern that is already too far away. Counts are *packed*: 4 bits for each kind of the suit, the first lowest.

A pattern contributes three numbers, combined over suits: one is added (`TRIPLETS` and the fields after it),
one is combined by bitwise or (flags, from `HAS_SEQUENCE` on), one by bitwise and over the three number suits.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kit.jit import static_table

# Fields of the number that is added: lowest bit of each.
TRIPLETS: Final = 0
"""Concealed triplets and kans, 4 bits."""
FU: Final = 4
"""Fu of sets and of the pair, sets counted as concealed, 10 bits."""
TWINS: Final = 16
"""Pairs of identical sequences, 4 bits."""
DORA: Final = 20
"""Dora of all sorts, 8 bits."""
HAN: Final = 28
"""Han of honours, 6 bits."""
YAKUMAN: Final = 34
"""Yakuman of honours and nine gates, 6 bits."""

# Flags.
HAS_SEQUENCE: Final = 1 << 0
HAS_TRIPLET: Final = 1 << 1
HAS_OUTER: Final = 1 << 2
"""A terminal or an honour."""
HAS_SIMPLE: Final = 1 << 3
"""A 2 to 8."""
HAS_INNER_BLOCK: Final = 1 << 4
"""A set or a pair without a terminal or honour."""
NOT_GREEN: Final = 1 << 5
STRAIGHT: Final = 1 << 6
"""123, 456 and 789 of one suit."""
VALUED_PAIR: Final = 1 << 7
HAS_SUIT: Final = 1 << 8
"""The first of three flags, one for each number suit."""
HAS_HONOUR: Final = 1 << 11
WAIT: Final = 12
"""Lowest of the four bits for the ways a winning tile may complete the hand, as in a pattern's ``waits``."""

OPEN_WAIT: Final = 1
"""An end of a sequence that waited on two kinds."""
NARROW_WAIT: Final = 2
"""The middle of a sequence, a 3 or 7 at the edge, or the pair."""
SIMPLE_TRIPLET_WAIT: Final = 4
OUTER_TRIPLET_WAIT: Final = 8

SEQUENCES: Final = 0
"""In the number combined by bitwise and: lowest bit of the starts of sequences."""
TRIPLET_KINDS: Final = 8
"""Likewise of the kinds of triplets."""

NIBBLES: Final = 0x111111111
"""A 1 in each of nine packed counts."""
SUIT_KINDS: Final = 9
HONOUR_KINDS: Final = 7
_RUNS: Final = 7
_MOST_SETS: Final = 4
_GREEN_PLACES: Final = (1, 2, 3, 5, 7)
_GREEN_HONOUR: Final = 5


class _Block(NamedTuple):
    """One set: its packed counts, and its contribution to a pattern."""

    counts: int
    added: int
    flags: int
    mask: int
    waits: int


class _Pattern(NamedTuple):
    counts: int
    sets: int
    added: int
    flags: int
    mask: int
    waits: int


def _waits_at(*places: tuple[int, int]) -> int:
    return sum(wait << 4 * place for place, wait in places)


def _sequence(low: int) -> _Block:
    places = range(low, low + 3)
    outer = low in {0, _RUNS - 1}
    waits = _waits_at(
        (low, NARROW_WAIT if low == _RUNS - 1 else OPEN_WAIT),
        (low + 1, NARROW_WAIT),
        (low + 2, NARROW_WAIT if low == 0 else OPEN_WAIT),
    )
    flags = HAS_SEQUENCE | HAS_SIMPLE | (HAS_OUTER if outer else HAS_INNER_BLOCK)
    if any(place not in _GREEN_PLACES for place in places):
        flags |= NOT_GREEN
    return _Block(sum(1 << 4 * place for place in places), 0, flags, 1 << SEQUENCES + low, waits)


def _triplet(place: int, is_honour: bool) -> _Block:
    outer = is_honour or place in {0, SUIT_KINDS - 1}
    green = place == _GREEN_HONOUR if is_honour else place in _GREEN_PLACES
    return _Block(
        3 << 4 * place,
        1 << TRIPLETS | (8 if outer else 4) << FU,
        HAS_TRIPLET
        | (HAS_OUTER if outer else HAS_SIMPLE | HAS_INNER_BLOCK)
        | (0 if green else NOT_GREEN)
        | (HAS_HONOUR if is_honour else 0),
        1 << TRIPLET_KINDS + place,
        _waits_at((place, OUTER_TRIPLET_WAIT if outer else SIMPLE_TRIPLET_WAIT)),
    )


def _in_preorder(blocks: list[_Block]) -> tuple[list[_Pattern], list[int]]:
    """All patterns of these sets, and for each the index of the first later one that does not contain it."""
    patterns: list[_Pattern] = []
    ends: list[int] = []

    def visit(pattern: _Pattern, first: int, equal: int) -> None:
        at = len(patterns)
        patterns.append(pattern)
        ends.append(0)
        for number in range(first, len(blocks) if pattern.sets < _MOST_SETS else first):
            block = blocks[number]
            counts = pattern.counts + block.counts
            if any(counts >> 4 * place & 15 > 4 for place in range(SUIT_KINDS)):
                continue
            again = equal + 1 if pattern.sets and number == first else 1
            twins = again % 2 == 0 and block.flags & HAS_SEQUENCE != 0
            grown = _Pattern(
                counts,
                pattern.sets + 1,
                pattern.added + block.added + (twins << TWINS),
                pattern.flags | block.flags,
                pattern.mask | block.mask,
                pattern.waits | block.waits,
            )
            visit(grown, number, again)
        ends[at] = len(patterns)

    visit(_Pattern(0, 0, 0, 0, 0, 0), 0, 0)
    return patterns, ends


_suit, _suit_ends = _in_preorder(
    [_sequence(low) for low in range(_RUNS)] + [_triplet(place, False) for place in range(SUIT_KINDS)]
)
_honours, _honour_ends = _in_preorder([_triplet(place, True) for place in range(HONOUR_KINDS)])
_all: Final = _suit + _honours

SUIT_PATTERNS: Final = len(_suit)
"""Index of the first pattern of honours; those of a number suit start at 0."""
PATTERNS: Final = len(_all)


def _column(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


# Accessors of the tables, for kernels; each takes the index of a pattern.
pattern_counts: Final = static_table("pattern_counts", _column([each.counts for each in _all]))
pattern_sets: Final = static_table("pattern_sets", _column([each.sets for each in _all]))
pattern_added: Final = static_table("pattern_added", _column([each.added for each in _all]))
pattern_flags: Final = static_table("pattern_flags", _column([each.flags for each in _all]))
pattern_mask: Final = static_table("pattern_mask", _column([each.mask for each in _all]))
pattern_waits: Final = static_table("pattern_waits", _column([each.waits for each in _all]))
pattern_end: Final = static_table(
    "pattern_end", _column(_suit_ends + [SUIT_PATTERNS + end for end in _honour_ends])
)
"""The first pattern after this one that does not contain it."""
