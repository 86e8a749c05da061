"""The parts of a hand's value: what melds and circumstances contribute once, and the sets of each suit.

`game.scoring.fast` computes points from these parts; `game.scoring.set_patterns` explains the numbers.
"""

from __future__ import annotations

from typing import Any, Final

from game.melds import MeldKind
from game.scoring.set_patterns import (
    FU,
    HAN,
    HAS_HONOUR,
    HAS_INNER_BLOCK,
    HAS_OUTER,
    HAS_SIMPLE,
    HAS_SUIT,
    NARROW_WAIT,
    NIBBLES,
    NOT_GREEN,
    SEQUENCES,
    STRAIGHT,
    SUIT_KINDS,
    SUIT_PATTERNS,
    TRIPLET_KINDS,
    TRIPLETS,
    VALUED_PAIR,
    YAKUMAN,
    pattern_added,
    pattern_counts,
    pattern_flags,
    pattern_mask,
    pattern_waits,
)
from kit.jit import kernel

# Indices in a frame.
F_ADDED: Final = 0
"""The sum over the melds."""
F_FLAGS: Final = 1
"""Flags of the melds."""
F_MASK: Final = 2
"""Mask of the melds in each number suit, 3 entries."""
F_HONOURS: Final = 5
"""Triplets of honours in melds, one bit each."""
F_HAN: Final = 6
"""Han of circumstances that are yaku: riichi, ippatsu, rinshan, chankan, the last tile."""
F_YAKUMAN: Final = 7
"""1 for a win on the first draw."""
F_CLOSED: Final = 8
F_KANS: Final = 9
F_SEAT_WIND: Final = 10
F_ROUND_WIND: Final = 11
F_MELDS: Final = 12
FRAME: Final = 13
"""Length of a frame."""

_EVEN_MASK: Final = -1
"""Mask of a group that has no number suits."""
_NINE_GATES: Final = 0x311111113
_GREEN_PLACES: Final = 0b10101110
_GREEN_HONOUR: Final = 5
_CHI: Final = int(MeldKind.CHI)
_PON: Final = int(MeldKind.PON)
_ANKAN: Final = int(MeldKind.ANKAN)


@kernel
def set_frame(frame: Any, seat_wind: int, round_wind: int, han: int, first_turn: int) -> None:
    """Make a frame without melds.

    Args:
        frame: ``[FRAME]`` int64, filled.
        seat_wind: 0 East (the dealer) to 3 North.
        round_wind: 0 East to 3 North.
        han: Han of circumstances that are yaku: 1 for riichi, 2 for double riichi, 1 each for ippatsu,
            rinshan, chankan, the last tile.
        first_turn: 1 for a tsumo on the first draw, else 0.
    """
    frame[:] = 0
    frame[F_HAN] = han
    frame[F_YAKUMAN] = first_turn
    frame[F_CLOSED] = 1
    frame[F_SEAT_WIND] = seat_wind
    frame[F_ROUND_WIND] = round_wind


@kernel
def add_meld(frame: Any, kind: int, low34: int) -> None:
    """Add a meld to a frame.

    Args:
        frame: ``[FRAME]`` int64.
        kind: A `MeldKind`.
        low34: Kind of the meld's lowest tile.
    """
    suit, place = low34 // SUIT_KINDS, low34 % SUIT_KINDS
    pattern = _meld_pattern(kind, suit, place)
    frame[F_MELDS] += 1
    frame[F_FLAGS] |= pattern_flags(pattern) | _suit_flag(suit)
    if suit == 3:
        frame[F_HONOURS] |= 1 << place
    else:
        frame[F_MASK + suit] |= pattern_mask(pattern)
    if kind != _ANKAN:
        frame[F_CLOSED] = 0
    if kind == _CHI:
        return
    fu = pattern_added(pattern) >> FU
    if kind == _PON:
        fu >>= 1
    else:
        frame[F_KANS] += 1
        fu *= 4 if kind == _ANKAN else 2
    frame[F_ADDED] += (fu << FU) + ((kind == _ANKAN) << TRIPLETS)


@kernel
def _meld_pattern(kind: int, suit: int, place: int) -> int:
    """The pattern of a single set."""
    wanted = 0x111 << 4 * place if kind == _CHI else 3 << 4 * place
    pattern = SUIT_PATTERNS if suit == 3 else 0
    while pattern_counts(pattern) != wanted:
        pattern += 1
    return pattern


@kernel
def _suit_flag(suit: int) -> int:
    """The flag of a suit with tiles in it; honours set their own, and only sou can be green."""
    if suit == 3:
        return HAS_HONOUR
    return HAS_SUIT << suit | (0 if suit == 2 else NOT_GREEN)


@kernel
def describe(suit: int, pattern: int, pair: int, frame: Any) -> tuple[int, int, int]:
    """The contribution of the sets and the pair of one suit, melds of that suit included.

    Args:
        suit: 0–2, 3 for honours.
        pattern: Index of the concealed sets' pattern.
        pair: Place of the pair in the suit, -1 without one.
        frame: The frame.

    Returns:
        Numbers to add, to combine by bitwise or, and by bitwise and. They exclude dora and how the hand was
        completed.
    """
    if suit == 3:
        return _describe_honours(pattern, pair, frame)
    added = pattern_added(pattern)
    flags = pattern_flags(pattern)
    mask = pattern_mask(pattern) | frame[F_MASK + suit]
    if pair >= 0:
        flags |= (HAS_OUTER if pair in (0, 8) else HAS_SIMPLE | HAS_INNER_BLOCK) | HAS_SUIT
        if not 1 << pair & _GREEN_PLACES:
            flags |= NOT_GREEN
    if flags:
        flags = flags & ~HAS_SUIT | _suit_flag(suit)
    if mask >> SEQUENCES & 0b1001001 == 0b1001001:
        flags |= STRAIGHT
    return added, flags, mask


@kernel
def _describe_honours(pattern: int, pair: int, frame: Any) -> tuple[int, int, int]:
    added = pattern_added(pattern)
    flags = pattern_flags(pattern)
    triplets = pattern_mask(pattern) >> TRIPLET_KINDS | frame[F_HONOURS]
    winds = bit_count(triplets & 0b1111)
    dragons = bit_count(triplets >> 4)
    han = dragons + (triplets >> frame[F_SEAT_WIND] & 1) + (triplets >> frame[F_ROUND_WIND] & 1)
    yakuman = (dragons == 3) + (winds == 4)
    if pair >= 0:
        flags |= HAS_HONOUR | HAS_OUTER | (0 if pair == _GREEN_HONOUR else NOT_GREEN)
        worth = (pair >= 4) + (pair == frame[F_SEAT_WIND]) + (pair == frame[F_ROUND_WIND])
        if worth:
            flags |= VALUED_PAIR
            added += 2 * worth << FU
        if pair >= 4:
            han += 2 * (dragons == 2)
        else:
            yakuman += winds == 3
    return added + (han << HAN) + (yakuman << YAKUMAN), flags, _EVEN_MASK


@kernel
def bit_count(mask: int) -> int:
    """How many bits of a mask are set."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def is_nine_gates(counts: int) -> bool:
    """Whether the packed counts of a suit, 14 tiles, form nine gates."""
    spare = counts - _NINE_GATES
    return bool(spare > 0 and spare & spare - 1 == 0 and spare & NIBBLES == spare)


@kernel
def ways_to_complete(pattern: int, pair: int, place: int) -> int:
    """The ways in which a winning tile at a place of the suit may have completed it, bits as in `WAIT`."""
    return int(pattern_waits(pattern) >> 4 * place & 15) | (NARROW_WAIT if pair == place else 0)
