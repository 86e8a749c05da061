"""The potential of an unfinished hand: a rough value in points, and its distance from certain yaku.

Both depend only on shape and are cheap; LA1 and LA2 have the exact points of real winning hands.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.layout import AT_HAND, AT_MELD
from game.melds import MeldKind
from game.scoring.settlement import tsumo_points
from game.scoring.value import base_points
from game.shanten import shanten_normal, shanten_seven_pairs
from game.tiles import EAST, WHITE
from kit.jit import kernel
from policies.features.table import KINDS

_CHI: Final = int(MeldKind.CHI)
_MOST_HAN: Final = 13
_FU: Final = 30


_BASES: Final = [base_points(han, _FU)[0] for han in range(1, _MOST_HAN + 1)]
_POINTS: Final = np.array(
    [[0, *(tsumo_points(base, dealer) for base in _BASES)] for dealer in (False, True)], dtype=np.int32
)
"""``[2, 14]`` points of a self-drawn win of 30 fu, by dealer and han."""


@kernel
def is_simple(kind: int) -> bool:
    """Whether a kind is a 2 to 8."""
    return bool(kind < 27 and 0 < kind % 9 < 8)


@kernel
def value_han(rec: Any, me: int, kind: int) -> int:
    """Han of a triplet of this kind; 2 if it is both the seat and the round wind."""
    if kind >= WHITE:
        return 1
    return int(kind == EAST + rec.round_index // 4) + int(kind == EAST + (me - rec.dealer) % 4)


@kernel
def promise(rec: Any, sight: Any, drawn: int, discarded: int) -> int:
    """Points of a self-drawn win if the hand keeps what it shows now; 0 if it shows no yaku.

    Includes riichi and tsumo of a closed hand, value triplets, all simples, one suit, dora and red fives (a
    red five is discarded last), at 30 fu.

    Args:
        rec: The round.
        sight: The player's view.
        drawn: Kind drawn, -1 for none.
        discarded: Kind discarded, -1 for none.
    """
    me = int(sight.me)
    all34 = sight.all34
    if drawn >= 0:
        all34[drawn] += 1
    if discarded >= 0:
        all34[discarded] -= 1
    closed = rec.is_open[me] == 0
    yaku = int(sight.may_riichi) + int(closed) + _pattern_han(rec, me, all34, closed)
    dora = 0
    for kind in range(KINDS):
        dora += int(all34[kind]) * int(sight.dora34[kind])
    dora += _reds(rec, me, discarded if discarded != drawn else -1)
    if drawn >= 0:
        all34[drawn] -= 1
    if discarded >= 0:
        all34[discarded] += 1
    if yaku == 0:
        return 0
    return int(_POINTS[int(me == rec.dealer), min(yaku + dora, _MOST_HAN)])


@kernel
def _pattern_han(rec: Any, me: int, all34: Any, closed: bool) -> int:
    """Han of value triplets, all simples and one suit, of the concealed tiles and melds together."""
    han = 0
    simples = True
    honours = False
    suits = 0
    for kind in range(KINDS):
        if all34[kind] <= 0:
            continue
        simples = simples and is_simple(kind)
        if kind >= EAST:
            honours = True
            if all34[kind] >= 3:
                han += value_han(rec, me, kind)
        else:
            suits |= 1 << kind // 9
    if simples:
        han += 1
    if suits in (1, 2, 4):
        han += (2 if honours else 5) + int(closed)
    return han


@kernel
def _reds(rec: Any, me: int, discarded: int) -> int:
    """Red fives in the hand and the melds after discarding a kind."""
    reds = 0
    for suit in range(3):
        five = 9 * suit + 4
        place = rec.where[4 * five]
        if place == AT_MELD + me or (
            place == AT_HAND + me and not (discarded == five and rec.hand34[me, five] == 1)
        ):
            reds += 1
    return reds


# --- distances to certain yaku ----------------------------------------------------------------------------


@kernel
def missing_to_simples(hand34: Any, melds: int, room34: Any) -> int:
    """Tiles missing to all simples; the melds must allow it."""
    for kind in range(KINDS):
        room34[kind] = hand34[kind] if is_simple(kind) else 0
    missing = shanten_normal(room34, melds) + 1
    return missing if melds else min(missing, shanten_seven_pairs(room34) + 1)


@kernel
def missing_to_suit(hand34: Any, melds: int, suit: int, room34: Any) -> int:
    """Tiles missing to a hand of this suit and honours; the melds must allow it."""
    for kind in range(KINDS):
        room34[kind] = hand34[kind] if kind >= EAST or kind // 9 == suit else 0
    missing = shanten_normal(room34, melds) + 1
    return missing if melds else min(missing, shanten_seven_pairs(room34) + 1)


@kernel
def missing_to_value(rec: Any, sight: Any, room34: Any) -> int:
    """Tiles missing to a hand with a value triplet, or -1 if none is possible."""
    melds = int(sight.melds)
    best = -1
    from_nothing = -1
    for kind in range(KINDS):
        room34[kind] = sight.hand34[kind]
    for kind in range(EAST, KINDS):
        if value_han(rec, sight.me, kind) == 0:
            continue
        own = rec.hand34[sight.me, kind]
        held = sight.hand34[kind]
        if sight.all34[kind] >= own + 3:
            return shanten_normal(sight.hand34, melds) + 1
        if melds == 4 or own + sight.unseen34[kind] < 3:
            continue
        if held == 0:
            if from_nothing < 0:
                from_nothing = shanten_normal(room34, melds + 1) + 4
            missing = from_nothing
        else:
            room34[kind] = 0
            missing = max(0, 3 - held) + shanten_normal(room34, melds + 1) + 1
            room34[kind] = held
        best = missing if best < 0 else min(best, missing)
    return best


@kernel
def missing_to_triplets(hand34: Any, melds: int) -> int:
    """Tiles missing to triplets or, without melds, seven pairs; no meld may be a sequence."""
    threes, twos, ones = 0, 0, 0
    for kind in range(KINDS):
        threes += hand34[kind] >= 3
        twos += hand34[kind] == 2
        ones += hand34[kind] == 1
    sets = 4 - melds
    of_threes = min(sets, threes)
    of_twos = min(sets - of_threes, twos)
    of_ones = min(sets - of_threes - of_twos, ones)
    missing = of_twos + 2 * of_ones + 3 * (sets - of_threes - of_twos - of_ones)
    if threes + twos == of_threes + of_twos:
        missing += 1 if ones > of_ones else 2
    return missing if melds else min(missing, shanten_seven_pairs(hand34) + 1)


@kernel
def has_run(rec: Any, me: int) -> bool:
    """Whether a meld is a sequence."""
    runs = 0
    for slot in range(rec.meld_count[me]):
        runs += rec.meld_kind[me, slot] == _CHI
    return runs > 0


@kernel
def melds_fit(rec: Any, sight: Any, suit: int) -> bool:
    """Whether all melds are of this suit and honours; of simples if the suit is -1."""
    for kind in range(KINDS):
        inside = is_simple(kind) if suit < 0 else kind >= EAST or kind // 9 == suit
        if not inside and sight.all34[kind] > rec.hand34[sight.me, kind]:
            return False
    return True
