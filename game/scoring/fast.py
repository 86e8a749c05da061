"""Points of a win as compiled kernels, for search over thousands of hands; `value` is the reference.

A hand is processed one suit at a time: `describe` summarises the chosen sets of a suit in three numbers (see
`game.scoring.set_patterns`), and `pattern_points` computes the points from the numbers of all suits together.
Everything that does not depend on the concealed tiles is a *frame*: ``[FRAME]`` int64, built by
`game.scoring.hand_parts`.

Points are those of `game.scoring.value.evaluate`: what the winner receives without honba and sticks, the
payments of a tsumo added up; 0 for a hand without a yaku.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.melds import MeldKind
from game.scoring.hand_parts import (
    F_ADDED,
    F_CLOSED,
    F_FLAGS,
    F_HAN,
    F_KANS,
    F_MELDS,
    F_SEAT_WIND,
    F_YAKUMAN,
    FRAME,
    add_meld,
    describe,
    is_nine_gates,
    set_frame,
    ways_to_complete,
)
from game.scoring.set_patterns import (
    DORA,
    FU,
    HAN,
    HAS_HONOUR,
    HAS_INNER_BLOCK,
    HAS_OUTER,
    HAS_SEQUENCE,
    HAS_SIMPLE,
    HAS_SUIT,
    HAS_TRIPLET,
    HONOUR_KINDS,
    NARROW_WAIT,
    NIBBLES,
    NOT_GREEN,
    OPEN_WAIT,
    PATTERNS,
    SEQUENCES,
    SIMPLE_TRIPLET_WAIT,
    STRAIGHT,
    SUIT_KINDS,
    SUIT_PATTERNS,
    TRIPLET_KINDS,
    TRIPLETS,
    TWINS,
    VALUED_PAIR,
    WAIT,
    YAKUMAN,
    pattern_counts,
    pattern_end,
    pattern_sets,
)
from game.scoring.settlement import ron_points, tsumo_points
from game.scoring.value import YAKUMAN_BASE, base_points
from kit.jit import kernel, static_table, warms_up

_WORTH_FU: Final = 16
_MOST_HAN: Final = 13
_SEVEN_PAIRS_FU: Final = 0  # row of 25 fu, which only seven pairs have
_PON: Final = int(MeldKind.PON)


def _points_table() -> NDArray[np.int64]:
    """Points by tsumo, dealer, han and tens of fu (0 for 25 fu), in one row."""
    rows = np.zeros((2, 2, _MOST_HAN + 1, _WORTH_FU), np.int64)
    for dealer in (0, 1):
        for han in range(1, _MOST_HAN + 1):
            for tens in range(_WORTH_FU):
                base, _ = base_points(han, 10 * tens if tens != _SEVEN_PAIRS_FU else 25)
                rows[0, dealer, han, tens] = ron_points(base, dealer == 1)
                rows[1, dealer, han, tens] = tsumo_points(base, dealer == 1)
    return rows.reshape(-1)


_points: Final = static_table("win_points", _points_table())
_YAKUMAN_POINTS: Final = np.array(
    [[points(YAKUMAN_BASE, dealer) for dealer in (False, True)] for points in (ron_points, tsumo_points)],
    dtype=np.int64,
)


@kernel
def pattern_points(added: int, flags: int, mask: int, is_tsumo: bool, frame: Any) -> int:
    """Points of a hand of four sets and a pair, 0 without a yaku.

    Args:
        added: Sum over the four suits, plus dora and the frame's value.
        flags: Bitwise or over the four suits, the flags of the frame, and the ways in which the winning tile
            may have completed the hand; the most valuable of these counts.
        mask: Bitwise and over the four suits.
        is_tsumo: Whether the win is by self-draw.
        frame: The frame.
    """
    closed = frame[F_CLOSED] == 1
    triplets = added >> TRIPLETS & 15
    fu = added >> FU & 1023
    wait = flags >> WAIT & 15
    # of these, only an open wait can be worth more, and only with pinfu, where it always is
    pinfu = closed and flags & (HAS_TRIPLET | VALUED_PAIR) == 0 and wait & OPEN_WAIT != 0
    if not pinfu:
        if wait & NARROW_WAIT:
            fu += 2
        elif not is_tsumo and wait & OPEN_WAIT == 0:
            triplets -= 1
            fu -= 2 if wait & SIMPLE_TRIPLET_WAIT else 4
    yakuman = _yakuman(added, flags, triplets, frame)
    is_dealer = 1 if frame[F_SEAT_WIND] == 0 else 0
    if yakuman:
        return int(yakuman * _YAKUMAN_POINTS[int(is_tsumo), is_dealer])
    han = _pattern_han(added, flags, mask, triplets, frame)
    han += pinfu + (closed and is_tsumo)
    if han == 0:
        return 0
    if closed and not is_tsumo:
        fu += 10
    elif is_tsumo and not pinfu:
        fu += 2
    tens = max((fu + 29) // 10, 2 if pinfu and is_tsumo else 3)
    han = min(han + (added >> DORA & 255), _MOST_HAN)
    return _listed(han, tens, is_tsumo, is_dealer)


@kernel
def _listed(han: int, tens: int, is_tsumo: bool, is_dealer: int) -> int:
    return int(_points(((int(is_tsumo) * 2 + is_dealer) * (_MOST_HAN + 1) + han) * _WORTH_FU + tens))


@kernel(inline="always")
def _yakuman(added: int, flags: int, triplets: int, frame: Any) -> int:
    """Number of yakuman patterns in a hand of four sets and a pair."""
    count = (added >> YAKUMAN & 63) + frame[F_YAKUMAN]
    count += flags & NOT_GREEN == 0
    if flags & HAS_SEQUENCE == 0:
        count += triplets == 4
        count += frame[F_KANS] == 4
        if flags & HAS_SIMPLE == 0:
            count += flags & HAS_HONOUR == 0
            count += flags & 7 * HAS_SUIT == 0
    return int(count)


@kernel(inline="always")
def _pattern_han(added: int, flags: int, mask: int, triplets: int, frame: Any) -> int:
    """Han of all yaku except pinfu and tsumo."""
    closed = frame[F_CLOSED]
    han = frame[F_HAN] + (added >> HAN & 63) + _colour_han(flags, closed)
    if flags & HAS_OUTER == 0:
        han += 1
    elif flags & HAS_SIMPLE == 0:
        han += 2
    elif flags & HAS_INNER_BLOCK == 0:
        han += (1 if flags & HAS_HONOUR else 2) + closed
    if flags & HAS_SEQUENCE == 0:
        han += 2
    twins = added >> TWINS & 15
    if closed and twins:
        han += 3 if twins == 2 else 1
    if flags & STRAIGHT:
        han += 1 + closed
    if mask >> SEQUENCES & 0x7F:
        han += 1 + closed
    if mask >> TRIPLET_KINDS & 0x1FF:
        han += 2
    if triplets == 3:
        han += 2
    if frame[F_KANS] == 3:
        han += 2
    return int(han)


@kernel
def _colour_han(flags: int, closed: int) -> int:
    suits = flags // HAS_SUIT & 7
    if suits & suits - 1:
        return 0
    return (2 if flags & HAS_HONOUR else 5) + closed


@kernel
def pair_flags(kind34: int) -> int:
    """The flags that a pair contributes to a hand of seven pairs."""
    suit, place = kind34 // SUIT_KINDS, kind34 % SUIT_KINDS
    if suit == 3:
        return HAS_HONOUR | HAS_OUTER
    return HAS_SUIT << suit | (HAS_OUTER if place in (0, 8) else HAS_SIMPLE)


@kernel
def seven_pairs_points(flags: int, dora: int, is_tsumo: bool, frame: Any) -> int:
    """Points of seven pairs.

    Args:
        flags: Bitwise or over `pair_flags`.
        dora: Dora of all sorts.
        is_tsumo: Whether the win is by self-draw.
        frame: The frame.
    """
    is_dealer = 1 if frame[F_SEAT_WIND] == 0 else 0
    yakuman = frame[F_YAKUMAN] + (flags & 7 * HAS_SUIT == 0)
    if yakuman:
        return int(yakuman * _YAKUMAN_POINTS[int(is_tsumo), is_dealer])
    han = 2 + frame[F_HAN] + is_tsumo + _colour_han(flags, 1)
    if flags & HAS_OUTER == 0:
        han += 1
    elif flags & HAS_SIMPLE == 0:
        han += 2
    han = min(han + dora, _MOST_HAN)
    return _listed(han, _SEVEN_PAIRS_FU, is_tsumo, is_dealer)


@kernel
def thirteen_orphans_points(is_tsumo: bool, frame: Any) -> int:
    """Points of thirteen orphans."""
    is_dealer = 1 if frame[F_SEAT_WIND] == 0 else 0
    return int((1 + frame[F_YAKUMAN]) * _YAKUMAN_POINTS[int(is_tsumo), is_dealer])


@kernel
def win_points(hand34: Any, win34: int, is_tsumo: bool, dora: int, frame: Any) -> int:
    """Points of a complete hand by its most valuable reading; 0 if it is not complete or has no yaku.

    Args:
        hand34: ``[34]`` int8 concealed tiles with the winning one.
        win34: Kind of the winning tile.
        is_tsumo: Whether the win is by self-draw.
        dora: Dora, red fives and ura dora of the whole hand, melds included.
        frame: The frame, with the melds and the circumstances.
    """
    best = 0
    if frame[F_MELDS] == 0:
        best = max(_win_by_pairs(hand34, is_tsumo, dora, frame), _win_by_orphans(hand34, is_tsumo, frame))
    readings = np.empty((4, _READINGS, 3), np.int64)
    count = np.zeros(4, np.int64)
    pairs = 0
    for suit in range(4):
        pair_here = _read_suit(hand34, suit, win34, frame, readings[suit], count)
        if count[suit] == 0:
            return best
        pairs += pair_here
    if pairs != 1:
        return best
    start = frame[F_ADDED] + (dora << DORA)
    for m in range(count[0]):
        for p in range(count[1]):
            for s in range(count[2]):
                for z in range(count[3]):
                    a, b, c, d = readings[0, m], readings[1, p], readings[2, s], readings[3, z]
                    points = pattern_points(
                        start + a[0] + b[0] + c[0] + d[0],
                        frame[F_FLAGS] | a[1] | b[1] | c[1] | d[1],
                        a[2] & b[2] & c[2] & d[2],
                        is_tsumo,
                        frame,
                    )
                    best = max(best, points)
    return best


_READINGS: Final = 8
"""More than the number of ways to read one suit's tiles."""


@kernel(inline="always")
def _read_suit(hand34: Any, suit: int, win34: int, frame: Any, readings: Any, count: Any) -> int:
    """List the readings of a suit's tiles as sets and possibly the pair; 1 if the pair is among them."""
    first = SUIT_KINDS * suit
    kinds = HONOUR_KINDS if suit == 3 else SUIT_KINDS
    counts = 0
    tiles = 0
    for place in range(kinds):
        counts |= int(hand34[first + place]) << 4 * place
        tiles += hand34[first + place]
    if tiles % 3 == 1:
        return 0
    win = win34 - first if 0 <= win34 - first < kinds else -1
    guard = NIBBLES << 3
    pattern = SUIT_PATTERNS if suit == 3 else 0
    end = PATTERNS if suit == 3 else SUIT_PATTERNS
    while pattern < end:
        held = pattern_counts(pattern)
        if ((counts | guard) - held) & guard != guard:
            pattern = pattern_end(pattern)
            continue
        if pattern_sets(pattern) == tiles // 3:
            pair = _pair_place(counts - held) if tiles % 3 == 2 else -1
            if tiles % 3 == 0 or pair >= 0:
                _store_reading(suit, pattern, pair, win, frame, readings[count[suit]])
                if tiles == 14 and is_nine_gates(counts) and suit < 3:
                    readings[count[suit], 0] += 1 << YAKUMAN
                count[suit] += 1
        pattern += 1
    return int(tiles % 3 == 2)


@kernel(inline="always")
def _pair_place(rest: int) -> int:
    """The place of a pair that makes up all of the packed counts, else -1."""
    for place in range(SUIT_KINDS):
        if rest == 2 << 4 * place:
            return place
    return -1


@kernel(inline="always")
def _store_reading(suit: int, pattern: int, pair: int, win: int, frame: Any, reading: Any) -> None:
    added, flags, mask = describe(suit, pattern, pair, frame)
    if win >= 0:
        flags |= ways_to_complete(pattern, pair, win) << WAIT
    reading[0], reading[1], reading[2] = added, flags, mask


@kernel(inline="always")
def _win_by_pairs(hand34: Any, is_tsumo: bool, dora: int, frame: Any) -> int:
    flags = 0
    for kind in range(34):
        if hand34[kind] == 2:
            flags |= pair_flags(kind)
        elif hand34[kind]:
            return 0
    return seven_pairs_points(flags, dora, is_tsumo, frame) if flags else 0


@kernel(inline="always")
def _win_by_orphans(hand34: Any, is_tsumo: bool, frame: Any) -> int:
    tiles = 0
    for kind in range(34):
        if pair_flags(kind) & HAS_OUTER:
            if hand34[kind] == 0:
                return 0
            tiles += hand34[kind]
        elif hand34[kind]:
            return 0
    return thirteen_orphans_points(is_tsumo, frame) if tiles == 14 else 0


@warms_up
def _warm_up() -> None:
    frame = np.zeros(FRAME, np.int64)
    set_frame(frame, 0, 0, 1, 0)
    add_meld(frame, _PON, 31)
    hand34 = np.zeros(34, np.int8)
    hand34[:9] = 1
    hand34[9] = 2
    win_points(hand34, 0, False, 0, frame)
