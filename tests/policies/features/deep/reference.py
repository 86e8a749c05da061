"""LA1 and LA2 the slow and obvious way: counters of tiles and the judge of points itself, no tables.

Hands are built set by set, and one that misses more than three tiles already is not built further.
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
from game.scoring import WinContext, evaluate
from game.shanten import waits
from game.state import hand_tiles, melds_of, unseen34
from game.tiles import EAST, KINDS, RED_FIVES, TERMINALS_AND_HONOURS

THRESHOLDS = (1000, 2000, 3000, 4000, 5000, 6000, 8000, 10000, 12000, 16000, 24000, 32000)
MOST = 3
SETS = [(k, k, k) for k in range(KINDS)] + [(k, k + 1, k + 2) for k in range(EAST) if k % 9 < 7]


class View(NamedTuple):
    """What the seat knows, in words of the rules."""

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
            out[:, at] = np.max([column(drawn, thrown) for thrown in drawn.hand], axis=0)
    return out


def column(view: View, thrown: int) -> np.ndarray[Any, Any]:
    """The 72 values of a discard."""
    out = np.zeros((2, MOST, len(THRESHOLDS)))
    hand = view.hand - Counter([thrown])
    reds = frozenset(kind for kind in view.reds if hand[kind])
    for missing, points in completions(view, hand, reds, thrown).items():
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
    view: View, hand: Counter[int], reds: frozenset[int], thrown: int
) -> dict[tuple[int, ...], int]:
    """The dearest points of each multiset of missing tiles."""
    found: dict[tuple[int, ...], int] = {}
    array = np.array([hand[kind] for kind in range(KINDS)], np.int8)
    mask = int(waits(array, len(view.base.melds)))
    furiten = view.barred or any(mask >> kind & 1 for kind in view.river | {thrown})
    for kinds in near_hands(hand, 4 - len(view.base.melds)):
        complete = Counter(kinds)
        missing = tuple(sorted((complete - hand).elements()))
        if not 1 <= len(missing) <= MOST or any(view.unseen[k] < c for k, c in Counter(missing).items()):
            continue
        is_tsumo = furiten and len(missing) == 1
        kept = reds & frozenset(complete & hand)
        points = max(points_of(view.base, kinds, kept, tile, is_tsumo) for tile in missing)
        found[missing] = max(points, found.get(missing, 0))
    return found


@cache
def points_of(
    base: WinContext, kinds: tuple[int, ...], reds: frozenset[int], tile: int, is_tsumo: bool
) -> int:
    """Points of a complete hand; copies are told apart only as red or plain, so that one may stand twice."""
    tiles = [4 * kind + (1 if 4 * kind in RED_FIVES else 0) for kind in kinds]
    for kind in reds:
        tiles[kinds.index(kind)] = 4 * kind
    win = next(t for t in tiles if t >> 2 == tile)
    value = evaluate(msgspec.structs.replace(base, hand=tuple(tiles), tile=win, is_tsumo=is_tsumo))
    return value.points if value else 0


def near_hands(hand: Counter[int], sets: int) -> set[tuple[int, ...]]:
    """Complete hands, sorted, that miss at most three tiles of what is held."""
    found = set(with_pair(hand, sets, 0, Counter()))
    if sets == 4:
        found |= set(seven_pairs(hand))
        for kind in TERMINALS_AND_HONOURS:
            found.add(tuple(sorted((*TERMINALS_AND_HONOURS, kind))))
    return found


def with_pair(hand: Counter[int], sets: int, first: int, built: Counter[int]) -> Iterator[tuple[int, ...]]:
    if (built - hand).total() > MOST or any(copies > 4 for copies in built.values()):
        return
    if sets == 0:
        for kind in range(KINDS):
            complete = built + Counter([kind, kind])
            if complete[kind] <= 4 and (complete - hand).total() <= MOST:
                yield tuple(sorted(complete.elements()))
        return
    for number in range(first, len(SETS)):
        yield from with_pair(hand, sets - 1, number, built + Counter(SETS[number]))


def seven_pairs(hand: Counter[int]) -> Iterator[tuple[int, ...]]:
    held = sorted(hand)
    for absent in (0, 1):
        for kinds in combinations(held, 7 - absent):
            if sum(hand[kind] == 1 for kind in kinds) + 2 * absent > MOST:
                continue
            for other in [()] if absent == 0 else [(k,) for k in range(KINDS) if not hand[k]]:
                yield tuple(sorted(2 * (kinds + other)))
