"""The value of a complete hand, fast enough for thousands of evaluations in one decision.

An estimate for search: it tries every decomposition but leaves out the rarest yaku. `game.scoring.value`
computes the exact value; the tests compare the two.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kit.jit import kernel
from policies.features.worth import is_simple

# Rows of `side`, the part of a hand that does not change with draws and discards.
SEAT_WIND: Final = 0
"""Kind of the seat wind."""
ROUND_WIND: Final = 1
CLOSED: Final = 2
"""1 while no meld is open."""
MELDS: Final = 3
"""Number of melds, closed kans included."""
MELD_DORA: Final = 4
"""Dora and red fives in the melds."""
RED_M: Final = 5
"""1 for each suit, this entry and the next two, if its red five is in the concealed hand."""
MELD_AT: Final = 8
"""From here on two numbers per meld: `MeldKind`, and the kind of its lowest tile."""
SIDE_SIZE: Final = MELD_AT + 8

YAKUMAN_HAN: Final = 13
_CHI: Final = 1
_PON: Final = 2
_ANKAN: Final = 4


@kernel
def yakuhai_han(kind: int, side: Any) -> int:
    """Han of a triplet of this kind: 1 for a dragon, the seat or the round wind, 2 for both winds in one."""
    if kind >= 31:
        return 1
    return int(kind == side[SEAT_WIND]) + int(kind == side[ROUND_WIND])


@kernel
def dora_in(hand34: Any, dora34: Any, side: Any) -> int:
    """Dora and red fives in a concealed hand and the melds; a red five is discarded last of its kind."""
    total = side[MELD_DORA]
    for kind in range(34):
        if hand34[kind] > 0:
            total += hand34[kind] * dora34[kind]
    for suit in range(3):
        if side[RED_M + suit] and hand34[9 * suit + 4] > 0:
            total += 1
    return int(total)


@kernel
def _suit_yaku(hand34: Any, side: Any) -> int:
    """Han of half and full flush, 0 for none."""
    suits = 0
    honours = False
    for kind in range(34):
        if hand34[kind] > 0:
            if kind >= 27:
                honours = True
            else:
                suits |= 1 << (kind // 9)
    for m in range(side[MELDS]):
        low = side[MELD_AT + 2 * m + 1]
        if low >= 27:
            honours = True
        else:
            suits |= 1 << (low // 9)
    if suits == 0:
        return YAKUMAN_HAN
    if suits not in (1, 2, 4):
        return 0
    return int((2 if honours else 5) + side[CLOSED])


@kernel
def _all_simple(hand34: Any, side: Any) -> bool:
    for kind in range(34):
        if hand34[kind] > 0 and not is_simple(kind):
            return False
    for m in range(side[MELDS]):
        low = side[MELD_AT + 2 * m + 1]
        high = low + (2 if side[MELD_AT + 2 * m] == _CHI else 0)
        if not (is_simple(low) and is_simple(high)):
            return False
    return True


@kernel
def _seven_pairs(hand34: Any, side: Any) -> bool:
    if side[MELDS] > 0:
        return False
    pairs = 0
    for kind in range(34):
        pairs += hand34[kind] == 2
    return pairs == 7


@kernel
def _orphans(hand34: Any, side: Any) -> bool:
    if side[MELDS] > 0:
        return False
    different = 0
    for kind in range(34):
        different += is_simple(kind) == (hand34[kind] > 0)
    return different == 0


@kernel
def win_value(hand34: Any, side: Any, win_kind: int, is_tsumo: bool, out: Any) -> None:
    """Han by yaku and fu of the best reading of a complete hand, without dora and riichi.

    Args:
        hand34: ``[34]`` int8, concealed tiles with the winning one.
        side: ``[SIDE_SIZE]`` int64, the hand's fixed part.
        win_kind: the winning tile.
        is_tsumo: whether it was drawn.
        out: ``[2]`` int64, receives han (0: no yaku; `YAKUMAN_HAN` and more: yakuman) and fu.
    """
    out[0] = 0
    out[1] = 30
    if _orphans(hand34, side):
        out[0] = YAKUMAN_HAN
        return
    shared = _suit_yaku(hand34, side) + int(_all_simple(hand34, side))
    if is_tsumo and side[CLOSED]:
        shared += 1
    if _seven_pairs(hand34, side):
        out[0] = shared + 2
        out[1] = 25
    sets = np.empty((5, 2), dtype=np.int64)  # type of each set and its lowest kind, melds first
    melds = side[MELDS]
    for m in range(melds):
        kind = side[MELD_AT + 2 * m]
        sets[m, 0] = _CHI if kind == _CHI else (_ANKAN if kind == _ANKAN else _PON)
        sets[m, 1] = side[MELD_AT + 2 * m + 1]
    rest = np.empty(34, dtype=np.int8)
    triplets = np.empty(5, dtype=np.int64)
    best = 0.0
    for pair in range(34):
        if hand34[pair] < 2:
            continue
        count = 0
        for kind in range(34):
            if hand34[kind] - 2 * (kind == pair) >= 3 and count < 5:
                triplets[count] = kind
                count += 1
        for chosen in range(1 << count):
            for kind in range(34):
                rest[kind] = hand34[kind]
            rest[pair] -= 2
            n = melds
            for i in range(count):
                if chosen >> i & 1 and n < 4:
                    rest[triplets[i]] -= 3
                    sets[n, 0] = _PON
                    sets[n, 1] = triplets[i]
                    n += 1
            n = _take_runs(rest, sets, n)
            if n != 4:
                continue
            han, fu = _reading(sets, melds, pair, side, win_kind, is_tsumo)
            han += shared
            worth = han + fu / 200.0
            if worth > best and han >= out[0]:
                best = worth
                out[0] = han
                out[1] = fu


@kernel
def _take_runs(rest: Any, sets: Any, n: int) -> int:
    """Split the remaining tiles into sequences; the number of sets then, -1 if some tiles do not fit."""
    for kind in range(27):
        while rest[kind] > 0:
            if kind % 9 > 6 or n >= 4 or rest[kind + 1] <= 0 or rest[kind + 2] <= 0:
                return -1
            rest[kind] -= 1
            rest[kind + 1] -= 1
            rest[kind + 2] -= 1
            sets[n, 0] = _CHI
            sets[n, 1] = kind
            n += 1
    for kind in range(27, 34):
        if rest[kind] != 0:
            return -1
    return n


@kernel
def _reading(sets: Any, melds: int, pair: int, side: Any, win_kind: int, is_tsumo: bool) -> tuple[int, int]:
    """Han of the sets of one reading, and its fu."""
    closed = side[CLOSED] == 1
    runs = 0
    run_mask = 0  # bit 7 * suit + lowest
    doubled_mask = 0
    same_runs = 0
    closed_triplets = 0
    triplets = 0
    dragons = 0
    winds = 0
    han = 0
    set_fu = 0
    outside = not is_simple(pair)
    honours = pair >= 27
    all_triplet_ends = True
    two_sided = False
    in_run = False
    in_triplet = False
    for i in range(4):
        low = sets[i, 1]
        concealed = i >= melds
        if sets[i, 0] == _CHI:
            runs += 1
            bit = 1 << (7 * (low // 9) + low % 9)
            if run_mask & bit and not doubled_mask & bit:
                same_runs += 1
                doubled_mask |= bit
            run_mask |= bit
            if low % 9 not in (0, 6):
                outside = False
            all_triplet_ends = False
            if concealed and low <= win_kind <= low + 2:
                in_run = True
                if (win_kind == low and low % 9 != 6) or (win_kind == low + 2 and low % 9 != 0):
                    two_sided = True
            continue
        triplets += 1
        ends = not is_simple(low)
        outside = outside and ends
        all_triplet_ends = all_triplet_ends and ends
        honours = honours or low >= 27
        han += yakuhai_han(low, side) if low >= 27 else 0
        dragons += low >= 31
        winds += 27 <= low < 31
        kan = sets[i, 0] == _ANKAN
        fu = 8 if ends else 4
        if not concealed:
            kind = side[MELD_AT + 2 * i]
            fu = (fu // 2) * (4 if kind != _PON else 1)
            if kan:
                fu *= 2
        if concealed or kan:
            closed_triplets += 1
        if concealed and low == win_kind:
            in_triplet = True
        set_fu += fu
    if in_triplet and not is_tsumo and not in_run and pair != win_kind:
        closed_triplets -= 1
        set_fu -= 2 if is_simple(win_kind) else 4
    pair_fu = 2 * yakuhai_han(pair, side) if pair >= 27 else 0
    if closed and runs == 4 and pair_fu == 0 and two_sided:
        han += 1
        fu_total = 20 if is_tsumo else 30
    else:
        wait_fu = 0 if (two_sided and pair != win_kind) or in_triplet else 2
        raw = (
            20 + set_fu + pair_fu + wait_fu + (10 if closed and not is_tsumo else 0) + (2 if is_tsumo else 0)
        )
        fu_total = max(30, -(-raw // 10) * 10)
    if closed and same_runs > 0:
        han += 1 if same_runs == 1 else 3
    if triplets == 4:
        han += 2
    if closed_triplets == 4:
        han += YAKUMAN_HAN
    elif closed_triplets == 3:
        han += 2
    han += _dragon_and_wind_han(dragons, winds, pair)
    if outside:
        if triplets == 4 and all_triplet_ends:
            han += 2
        elif runs > 0:
            han += (1 if honours else 2) + int(closed)
    han += _run_patterns(run_mask, closed)
    return han, fu_total


@kernel
def _dragon_and_wind_han(dragons: int, winds: int, pair: int) -> int:
    if dragons == 3 or winds == 4 or (winds == 3 and 27 <= pair < 31):
        return YAKUMAN_HAN
    return 2 if dragons == 2 and pair >= 31 else 0


@kernel
def _run_patterns(run_mask: int, closed: bool) -> int:
    """Han of a straight through one suit or the same sequence in all three."""
    for suit in range(3):
        if (run_mask >> 7 * suit) & 0b1001001 == 0b1001001:
            return 1 + int(closed)
    if run_mask & (run_mask >> 7) & (run_mask >> 14) & 0x7F:
        return 1 + int(closed)
    return 0
