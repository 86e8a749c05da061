"""The value of an unfinished hand: every route to a yaku, its distance and its gain.

A route keeps the tiles that fit its yaku and counts the missing ones. A hand is worth about its best route,
and slightly more with several. Points are gains by han from `policies.heuristic.stakes`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from game.shanten import shanten_normal, shanten_seven_pairs, shanten_thirteen_orphans
from kit.jit import kernel
from policies.features.worth import is_simple
from policies.heuristic.side import (
    CLOSED,
    MELD_AT,
    MELDS,
    dora_in,
    yakuhai_han,
)
from policies.heuristic.stakes import gain_at

_CHI: Final = 1
_BLEND: Final = 3.0
"""Exponent that blends routes: one route counts in full, a second equal one adds a quarter."""

_RIICHI_HAN: Final = 1.8
"""Riichi with its share of tsumo, ippatsu and ura dora."""
_FLAT_HAND_HAN: Final = 0.35
"""Average han of pinfu and identical sequences in a closed hand."""


@kernel
def win_chance(shanten: float, draws: float, is_open: bool, pressure: float) -> float:
    """Chance that a hand at this distance wins with this many own draws left.

    Args:
        shanten: tiles missing to tenpai.
        draws: own draws left.
        is_open: whether calls may help.
        pressure: 0 without a threat, 1 against a riichi.

    Source: fitted to hands of Phoenix-room games.
    """
    if shanten < 0:
        return 1.0
    ready = 0.65 * (1.0 - math.exp(-(draws + 0.3) / 6.0)) * (1.0 - 0.35 * pressure)
    step = (0.06 + 0.036 * min(draws, 16.0)) * (1.0 - 0.2 * pressure) + (0.06 if is_open else 0.0)
    return float(ready * step**shanten)


@kernel
def _melds_fit(side: Any, first: int, last: int) -> bool:
    """Whether every meld is within a range of kinds or of honours."""
    for m in range(side[MELDS]):
        low = side[MELD_AT + 2 * m + 1]
        if low < 27 and not first <= low <= last:
            return False
    return True


@kernel
def _outside_melds(side: Any) -> int:
    """How many melds have a terminal or an honour."""
    count = 0
    for m in range(side[MELDS]):
        low = side[MELD_AT + 2 * m + 1]
        high = low + (2 if side[MELD_AT + 2 * m] == _CHI else 0)
        count += not (is_simple(low) and is_simple(high))
    return count


@kernel
def _no_runs(side: Any) -> bool:
    runs = 0
    for m in range(side[MELDS]):
        runs += side[MELD_AT + 2 * m] == _CHI
    return runs == 0


@kernel
def route_value(
    hand34: Any, side: Any, unseen34: Any, dora34: Any, gains: Any, draws: float, pressure: float
) -> float:
    """Expected gain of a hand by its routes.

    Args:
        hand34: ``[34]`` int8, 3n+1 or 3n+2 concealed tiles.
        side: the hand's fixed part, see `policies.heuristic.side`.
        unseen34: ``[34]`` int8, copies the player cannot see.
        dora34: ``[34]`` int8, how often each kind counts as dora.
        gains: ``[HAN_MAX]`` float64.
        draws: own draws left.
        pressure: 0–1, see `win_chance`.
    """
    melds = side[MELDS]
    closed = side[CLOSED] == 1
    dora = dora_in(hand34, dora34, side)
    value_han = 0
    for m in range(melds):
        if side[MELD_AT + 2 * m] != _CHI:
            low = side[MELD_AT + 2 * m + 1]
            value_han += yakuhai_han(low, side) if low >= 27 else 0
    for kind in range(27, 34):
        if hand34[kind] >= 3:
            value_han += yakuhai_han(kind, side)
    distance = shanten_normal(hand34, melds)
    trial = hand34.copy()
    total = 0.0

    simple = 99
    if _outside_melds(side) == 0:
        for kind in range(34):
            if not is_simple(kind):
                trial[kind] = 0
        simple = shanten_normal(trial, melds)
        simple_dora = dora_in(trial, dora34, side)
        ev = win_chance(simple, draws, True, pressure) * gain_at(gains, 1.0 + simple_dora)
        total += max(0.0, ev) ** _BLEND
    if closed:
        han = _RIICHI_HAN + _FLAT_HAND_HAN + value_han + dora
        if simple <= distance + 1:
            han += 0.8 if simple == distance else 0.3
        ev = win_chance(distance, draws, False, pressure) * gain_at(gains, han)
        total += max(0.0, ev) ** _BLEND
    if value_han > 0:
        ev = win_chance(distance, draws, True, pressure) * gain_at(gains, float(value_han + dora))
        total += max(0.0, ev) ** _BLEND
    elif melds < 4:
        total += _value_pair_routes(hand34, side, unseen34, dora, gains, draws, pressure)
    total += _flush_routes(hand34, side, dora34, value_han, gains, draws, pressure)
    total += _set_routes(hand34, side, dora, value_han, gains, draws, pressure)
    total += _pattern_routes(hand34, side, dora, value_han, gains, draws, pressure, distance)
    return float(total ** (1.0 / _BLEND))


@kernel
def _value_pair_routes(
    hand34: Any, side: Any, unseen34: Any, dora: int, gains: Any, draws: float, pressure: float
) -> float:
    """Routes by one triplet of dragons or of a value wind, from a pair or a single tile."""
    total = 0.0
    trial = hand34.copy()
    for kind in range(27, 34):
        have = hand34[kind]
        live = unseen34[kind]
        if have == 0 or have >= 3 or have + live < 3 or yakuhai_han(kind, side) == 0:
            continue
        trial[kind] = 0
        distance = shanten_normal(trial, side[MELDS] + 1) + 3 - have
        trial[kind] = have
        supply = (0.9 if live == 2 else 0.6) if have == 2 else 0.4
        chance = supply * win_chance(distance, draws, True, pressure)
        total += max(0.0, chance * gain_at(gains, float(yakuhai_han(kind, side) + dora))) ** _BLEND
    return total


@kernel
def _flush_routes(
    hand34: Any, side: Any, dora34: Any, value_han: int, gains: Any, draws: float, pressure: float
) -> float:
    """Routes by half or full flush."""
    total = 0.0
    trial = np.empty(34, dtype=np.int8)
    for suit in range(3):
        first = 9 * suit
        if not _melds_fit(side, first, first + 8):
            continue
        off = 0
        for kind in range(27):
            off += hand34[kind] if kind < first or kind > first + 8 else 0
        if off > 6:
            continue
        pairs = 0
        honours = 0
        for kind in range(34):
            trial[kind] = hand34[kind] if first <= kind <= first + 8 or kind >= 27 else 0
            if kind >= 27:
                honours += hand34[kind]
                pairs += hand34[kind] == 2 and yakuhai_han(kind, side) > 0
        han = 2.0 + side[CLOSED] * 0.6 + value_han + 0.5 * pairs + dora_in(trial, dora34, side)
        distance = shanten_normal(trial, side[MELDS])
        total += max(0.0, win_chance(distance, draws, True, pressure) * gain_at(gains, han)) ** _BLEND
        if off + honours <= 4:
            for kind in range(27, 34):
                trial[kind] = 0
            distance = shanten_normal(trial, side[MELDS])
            han = 5.0 + side[CLOSED] * 0.6 + dora_in(trial, dora34, side)
            total += max(0.0, win_chance(distance, draws, True, pressure) * gain_at(gains, han)) ** _BLEND
    return total


@kernel
def _set_routes(
    hand34: Any, side: Any, dora: int, value_han: int, gains: Any, draws: float, pressure: float
) -> float:
    """Routes by all triplets, seven pairs and thirteen orphans."""
    total = 0.0
    melds = side[MELDS]
    triplets = 0
    pairs = 0
    for kind in range(34):
        triplets += hand34[kind] >= 3
        pairs += hand34[kind] == 2
    if _no_runs(side) and triplets + pairs + melds >= 4:
        sets = min(4, melds + triplets)
        distance = 8 - 2 * sets - min(pairs, 5 - sets)
        han = 2.0 + value_han + dora + (0.7 if triplets >= 2 else 0.0)
        ev = 0.6 * win_chance(distance, draws, True, pressure) * gain_at(gains, han)
        total += max(0.0, ev) ** _BLEND
    if melds == 0:
        distance = shanten_seven_pairs(hand34)
        if distance <= 3:
            # at most two live copies for each pair: slower than four sets at the same distance
            ev = 0.7 * win_chance(distance, draws, False, pressure) * gain_at(gains, _RIICHI_HAN + 1.6 + dora)
            total += max(0.0, ev) ** _BLEND
        distance = shanten_thirteen_orphans(hand34)
        if distance <= 4:
            ev = 0.3 * win_chance(distance, draws, False, pressure) * gain_at(gains, 13.0)
            total += max(0.0, ev) ** _BLEND
    return total


@kernel
def _pattern_routes(
    hand34: Any,
    side: Any,
    dora: int,
    value_han: int,
    gains: Any,
    draws: float,
    pressure: float,
    distance: int,
) -> float:
    """Routes by a straight, the same sequence in three suits, or a terminal or honour in every set."""
    total = 0.0
    trial = np.empty(34, dtype=np.int8)
    runs = np.empty(3, dtype=np.int64)
    extra = _RIICHI_HAN if side[CLOSED] else 0.0
    for pattern in range(10):
        for i in range(3):
            runs[i] = 9 * pattern + 3 * i if pattern < 3 else 9 * i + pattern - 3
        missing = _missing_after(hand34, side, runs, distance, trial)
        if missing > distance + 1 or missing > 3:
            continue
        han = 1.0 + side[CLOSED] + extra + value_han + dora
        ev = win_chance(missing, draws, side[CLOSED] == 0, pressure) * gain_at(gains, han)
        total += max(0.0, ev) ** _BLEND
    if _outside_melds(side) == side[MELDS]:
        for kind in range(34):
            middle = kind < 27 and 3 <= kind % 9 <= 5
            trial[kind] = 0 if middle else hand34[kind]
        outside = shanten_normal(trial, side[MELDS])
        if outside <= distance + 1:
            han = 1.0 + side[CLOSED] + extra + value_han + dora
            ev = 0.6 * win_chance(outside, draws, side[CLOSED] == 0, pressure) * gain_at(gains, han)
            total += max(0.0, ev) ** _BLEND
    return total


@kernel
def _missing_after(hand34: Any, side: Any, runs: Any, distance: int, trial: Any) -> int:
    """Shanten of a hand that must contain three given sequences; 99 if that is far off."""
    for kind in range(34):
        trial[kind] = hand34[kind]
    melds = side[MELDS]
    missing = 0
    for i in range(3):
        low = runs[i]
        called = False
        for m in range(side[MELDS]):
            called = called or (side[MELD_AT + 2 * m] == _CHI and side[MELD_AT + 2 * m + 1] == low)
        if called:
            continue
        melds += 1
        for kind in range(low, low + 3):
            if trial[kind] > 0:
                trial[kind] -= 1
            else:
                missing += 1
        if melds > 4 or missing > distance + 2:
            return 99
    return shanten_normal(trial, melds) + missing
