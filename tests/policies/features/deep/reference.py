"""LA1 and LA2 in a slow and obvious way: tile counters and `game.scoring.value` itself, without tables.

Hands are built set by set; one that already lacks more than three tiles is not extended.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
import numpy as np

from game.layout import PHASE_CLAIM
from game.scoring.value import WinContext, evaluate
from game.shanten import waits
from game.state import hand_tiles, melds_of, unseen34
from game.tiles import EAST, KINDS, RED_FIVES, TERMINALS_AND_HONOURS

THRESHOLDS = (1000, 2000, 3000, 4000, 5000, 6000, 8000, 10000, 12000, 16000, 24000, 32000)
MOST = 3
SETS = [(k, k, k) for k in range(KINDS)] + [(k, k + 1, k + 2) for k in range(EAST) if k % 9 < 7]


class View(NamedTuple):
    """What the player knows, in terms of the rules."""

    hand: Counter[int]
    reds: frozenset[int]
    unseen: Counter[int]
    draws: int
    river: frozenset[int]
    barred: bool
    base: WinContext


def view_of(record: np.void, player: int) -> View:
    tiles = hand_tiles(record, player)
    melds = tuple(melds_of(record, player))
    may_riichi = record["scores"][player] >= 1000 and record["wall_left"] >= 4
    riichi = 0
    if record["riichi"][player]:
        riichi = 2 if record["double_riichi"][player] else 1
    elif may_riichi and not any(meld.is_open for meld in melds):
        riichi = 1
    base = WinContext(
        hand=(),
        tile=0,
        is_tsumo=False,
        melds=melds,
        seat_wind=int(player - record["dealer"]) % 4,
        round_wind=int(record["round_index"]) // 4,
        riichi=riichi,
        dora_indicators=tuple(record["indicators"][: record["indicator_count"]].tolist()),
    )
    if record["phase"] == PHASE_CLAIM:
        next_player = (record["last_player"] + 1) % 4
    elif len(tiles) % 3 == 2:
        next_player = (player + 1) % 4
    else:
        next_player = record["turn"]
    turns = [(next_player + i) % 4 for i in range(record["wall_left"])]
    return View(
        hand=Counter(tile >> 2 for tile in tiles),
        reds=frozenset(tile >> 2 for tile in tiles if tile in RED_FIVES),
        unseen=Counter(dict(enumerate(unseen34(record, player).tolist()))),
        draws=turns.count(player),
        river=frozenset(kind for kind in range(KINDS) if int(record["river34"][player]) >> kind & 1),
        barred=bool(record["missed_riichi"][player]),
        base=base,
    )


def planes(
    record: np.void, player: int, positions: Iterator[int] | range = range(KINDS)
) -> np.ndarray[Any, Any]:
    """``[72, 34]`` float, LA2 as 1 + log10(p)/6; other positions stay empty."""
    out = np.zeros((72, KINDS))
    view = view_of(record, player)
    for at in positions:
        if view.hand.total() % 3 == 2 and view.hand[at]:
            out[:, at] = column(view, at)
        elif view.hand.total() % 3 == 1 and view.unseen[at]:
            drawn = view._replace(
                hand=view.hand + Counter([at]),
                unseen=view.unseen - Counter([at]),
                draws=max(0, view.draws - 1),
            )
            out[:, at] = np.max([column(drawn, discarded) for discarded in drawn.hand], axis=0)
    return out


def column(view: View, discarded: int) -> np.ndarray[Any, Any]:
    """The 72 values of a discard."""
    out = np.zeros((2, MOST, len(THRESHOLDS)))
    hand = view.hand - Counter([discarded])
    reds = frozenset(kind for kind in view.reds if hand[kind])
    for missing, points in completions(view, hand, reds, discarded).items():
        for step, least in enumerate(THRESHOLDS):
            if points >= least:
                out[0, len(missing) - 1, step] = 1
                out[1, len(missing) - 1, step] += chance(view, missing)
    with np.errstate(divide="ignore"):
        out[1] = np.clip(1 + np.log10(out[1]) / 6, 0, 1)
    return out.reshape(-1)


def chance(view: View, missing: tuple[int, ...]) -> float:
    ways = math.prod(math.comb(view.unseen[kind], copies) for kind, copies in Counter(missing).items())
    total = view.unseen.total()
    return ways * math.perm(view.draws, len(missing)) / math.perm(total, len(missing))


def completions(
    view: View, hand: Counter[int], reds: frozenset[int], discarded: int
) -> dict[tuple[int, ...], int]:
    """The highest points of each multiset of missing tiles."""
    found: dict[tuple[int, ...], int] = {}
    mask = int(waits(np.array(counts_of(hand), np.int8), len(view.base.melds)))
    furiten = view.barred or any(mask >> kind & 1 for kind in view.river | {discarded})
    # a hand that lacks few tiles of the rest lacks no more of the hand before the discard
    for kinds in near_hands(counts_of(hand + Counter([discarded])), 4 - len(view.base.melds)):
        missing = tuple(sorted((Counter(kinds) - hand).elements()))
        if not 1 <= len(missing) <= MOST or any(view.unseen[k] < c for k, c in Counter(missing).items()):
            continue
        is_tsumo = furiten and len(missing) == 1
        kept = frozenset(red for red in reds if red in kinds)
        points = max(points_of(view.base, kinds, kept, tile, is_tsumo) for tile in set(missing))
        found[missing] = max(points, found.get(missing, 0))
    return found


def counts_of(hand: Counter[int]) -> tuple[int, ...]:
    return tuple(hand[kind] for kind in range(KINDS))


@cache
def points_of(
    base: WinContext, kinds: tuple[int, ...], reds: frozenset[int], tile: int, is_tsumo: bool
) -> int:
    """Points of a complete hand; copies differ only in being red or not, so the same one may appear twice."""
    tiles = [4 * kind + (1 if 4 * kind in RED_FIVES else 0) for kind in kinds]
    for kind in reds:
        tiles[kinds.index(kind)] = 4 * kind
    win = next(t for t in tiles if t >> 2 == tile)
    value = evaluate(msgspec.structs.replace(base, hand=tuple(tiles), tile=win, is_tsumo=is_tsumo))
    return value.points if value else 0


@cache
def near_hands(hand: tuple[int, ...], sets: int) -> frozenset[tuple[int, ...]]:
    """Complete hands, sorted, that lack at most three of the held tiles."""
    found = set(built_up(list(hand), sets, 0, 0, ()))
    if sets == 4:
        found |= set(seven_pairs(hand))
        found |= {tuple(sorted((*TERMINALS_AND_HONOURS, kind))) for kind in TERMINALS_AND_HONOURS}
    return frozenset(found)


def built_up(
    left: list[int], sets: int, first: int, missing: int, built: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Hands of the sets built so far, more sets in the order of `SETS`, and a pair.

    ``left`` counts tiles held but not used, and below zero tiles used but not held.
    """
    if missing > MOST or any(built.count(kind) > 4 for kind in built):
        return
    if len(built) % 3 == 2:
        yield tuple(sorted(built))
        return
    for number in range(first, len(SETS)) if sets else range(KINDS):
        block = SETS[number] if sets else (number, number)
        needed = 0
        for kind in block:
            needed += left[kind] <= 0
            left[kind] -= 1
        yield from built_up(left, sets - 1, number, missing + needed, built + block)
        for kind in block:
            left[kind] += 1


def seven_pairs(hand: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    held = [kind for kind in range(KINDS) if hand[kind]]
    absent = [kind for kind in range(KINDS) if not hand[kind]]
    for number in (6, 7):
        for kinds in combinations(held, number):
            if sum(hand[kind] == 1 for kind in kinds) + 2 * (7 - number) <= MOST:
                for other in absent if number == 6 else [kinds[0]]:
                    yield tuple(sorted(2 * tuple({*kinds, other})))
