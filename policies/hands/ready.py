"""Ready hands for players in riichi: a sampled hand is changed until it is ready."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.shanten import shanten, waits
from game.tiles import KINDS, TERMINALS_AND_HONOURS
from kit.jit import kernel, warms_up
from policies.hands.rounding import fill_at_random

_HANDS: Final = 3
_TRIPLETS: Final = KINDS
BLOCKS: Final = KINDS + 21
"""Triplets and runs, of which ready hands are made."""
_MOST_CHANGES: Final = 14
_NOT_READY: Final = 99
_ORPHANS: Final = np.array(TERMINALS_AND_HONOURS)
_RUNS: Final = np.array([9 * suit + low for suit in range(3) for low in range(7)])


@kernel
def is_ready(hand34: Any, melds: int) -> bool:
    """Whether a hand is tenpai; with a tile drawn, whether it is after a discard, or complete."""
    if hand34.sum() % 3 == 1:
        return bool(waits(hand34, melds) != np.uint64(0))
    return bool(shanten(hand34, melds) <= 0)


@kernel
def make_ready(hands: Any, scores: Any, unseen: Any, sizes: Any, melds: Any, riichi: Any, draws: Any) -> bool:
    """Make the hands of players in riichi ready.

    One tile after the other is exchanged for one that is left, each time the cheapest exchange of those that
    bring the hand closest to ready: the squared distance to the scores grows least. If no exchange helps, a
    random ready hand takes its place, and the other hands give up what it needs for random tiles.

    Args:
        hands: ``[3, 34]`` int8, changed.
        scores: ``[3, 34]`` float, copies.
        unseen: ``[34]`` int8, copies left before these hands.
        sizes: ``[3]`` int64, tiles of each hand.
        melds: ``[3]`` int64.
        riichi: ``[3]`` bool.
        draws: ``[4, 55]`` float from 0 to 1.

    Returns:
        Whether there are such hands.
    """
    for hand in range(_HANDS):
        if not riichi[hand] or is_ready(hands[hand], melds[hand]):
            continue
        limit = unseen.astype(np.int64)
        for other in range(_HANDS):
            if other != hand:
                limit -= hands[other]
        if _exchange(hands[hand], scores[hand], limit, melds[hand]):
            continue
        if not _replace(hands, hand, unseen, sizes, melds, riichi, draws):
            return False
    return True


@kernel
def _exchange(hand34: Any, scores: Any, limit: Any, melds: int) -> bool:
    """Exchange tiles until a hand is ready; return whether it is."""
    for _ in range(_MOST_CHANGES):
        distance = _distance(hand34, melds)
        if distance == 0:
            return True
        best, cheapest, away, taken = distance, 1e9, -1, -1
        for old in range(KINDS):
            if hand34[old] == 0:
                continue
            hand34[old] -= 1
            for new in range(KINDS):
                if new == old or hand34[new] >= limit[new]:
                    continue
                hand34[new] += 1
                found = _distance(hand34, melds)
                cost = 2.0 * (hand34[new] - scores[new] - hand34[old] + scores[old])
                if found < best or (found == best < distance and cost < cheapest):
                    best, cheapest, away, taken = found, cost, old, new
                hand34[new] -= 1
            hand34[old] += 1
        if away < 0:
            return False
        hand34[away] -= 1
        hand34[taken] += 1
    return _distance(hand34, melds) == 0


@kernel
def _distance(hand34: Any, melds: int) -> int:
    """Shanten, or 1 if the hand waits on nothing but its own tiles; 0 if it is ready."""
    distance = int(shanten(hand34, melds))
    if distance > 0:
        return distance
    return 0 if is_ready(hand34, melds) else 1


@kernel
def _replace(hands: Any, hand: int, unseen: Any, sizes: Any, melds: Any, riichi: Any, draws: Any) -> bool:
    """Put a random ready hand in place of one; return whether there is any."""
    limit = unseen.astype(np.int64)
    for other in range(_HANDS):
        if other < hand and riichi[other]:
            limit -= hands[other]
    if not random_ready(limit, sizes[hand], melds[hand], draws[hand], hands[hand]):
        return False
    left, missing = limit - hands[hand], np.zeros(_HANDS, np.int64)
    for other in range(_HANDS):
        if other == hand or (other < hand and riichi[other]):
            continue
        for kind in range(KINDS):
            hands[other, kind] = min(hands[other, kind], left[kind])
            left[kind] -= hands[other, kind]
        missing[other] = sizes[other] - hands[other].sum()
    fill_at_random(hands, left, missing, draws[_HANDS])
    return True


@kernel
def random_ready(limit: Any, size: int, melds: int, draws: Any, out: Any) -> bool:
    """A ready hand of tiles that are left, found by trying sets and pairs in random order.

    Args:
        limit: ``[34]`` int64, copies left.
        size: tiles of the hand.
        melds: melds beside it.
        draws: ``[55]`` float from 0 to 1.
        out: ``[34]`` int8, filled if there is one.

    Returns:
        Whether there is one.
    """
    order = np.argsort(draws)
    found = _sets_and_pair(limit, (size - 1) // 3, order, out)
    if not found and melds == 0:
        found = _seven_pairs(limit, order, out) or _thirteen_orphans(limit, out)
    if found and size % 3 == 2:  # any tile that was drawn
        for block in order:
            if block < KINDS and out[block] < limit[block]:
                out[block] += 1
                return True
        return False
    return bool(found)


@kernel
def _sets_and_pair(limit: Any, sets: int, order: Any, out: Any) -> bool:
    """A hand that lacks one tile of some sets and a pair, in the order of their blocks."""
    whole = np.zeros(KINDS, np.int64)
    chosen = np.zeros(sets + 1, np.int64)
    depth = 0
    while depth >= 0:
        if depth == sets:
            if _pair_and_gap(limit, whole, order, out):
                return True
            depth -= 1
            if depth >= 0:
                _put(whole, order[chosen[depth]], -1)
                chosen[depth] += 1
            continue
        if chosen[depth] == BLOCKS:
            depth -= 1
            if depth >= 0:
                _put(whole, order[chosen[depth]], -1)
                chosen[depth] += 1
            continue
        _put(whole, order[chosen[depth]], 1)
        if _excess(whole, limit) <= 1:
            chosen[depth + 1] = chosen[depth]
            depth += 1
        else:
            _put(whole, order[chosen[depth]], -1)
            chosen[depth] += 1
    return False


@kernel(inline="always")
def _pair_and_gap(limit: Any, whole: Any, order: Any, out: Any) -> bool:
    """Add a pair, and take away one tile: the one there is too many of, or any."""
    for pair in order:
        if pair >= _TRIPLETS:
            continue
        whole[pair] += 2
        excess = _excess(whole, limit)
        if excess <= 1:
            for gap in order:
                if gap >= _TRIPLETS or whole[gap] == 0 or (excess == 1 and whole[gap] <= limit[gap]):
                    continue
                for kind in range(KINDS):
                    out[kind] = whole[kind] - int(kind == gap)
                whole[pair] -= 2
                return True
        whole[pair] -= 2
    return False


@kernel
def _put(whole: Any, block: int, copies: int) -> None:
    """Add a triplet or a run to the tiles, or take it away."""
    if block < _TRIPLETS:
        whole[block] += 3 * copies
        return
    low = _RUNS[block - _TRIPLETS]
    for kind in range(low, low + 3):
        whole[kind] += copies


@kernel
def _excess(whole: Any, limit: Any) -> int:
    """Tiles beyond those left; many if there would be five of a kind."""
    excess = 0
    for kind in range(KINDS):
        if whole[kind] > 4:
            return _NOT_READY
        excess += max(0, whole[kind] - limit[kind])
    return excess


@kernel(inline="always")
def _seven_pairs(limit: Any, order: Any, out: Any) -> bool:
    """Six pairs and another tile."""
    out[:] = 0
    pairs = 0
    single = False
    for kind in order:
        if kind >= KINDS or limit[kind] == 0:
            continue
        if pairs < 6 and limit[kind] >= 2:
            out[kind] = 2
            pairs += 1
        elif not single:
            out[kind] = 1
            single = True
    return pairs == 6 and single


@kernel(inline="always")
def _thirteen_orphans(limit: Any, out: Any) -> bool:
    """One of each terminal and honour; if one of them is missing, two of another."""
    out[:] = 0
    missing = 0
    for kind in _ORPHANS:
        missing += limit[kind] == 0
        out[kind] = min(1, limit[kind])
    if missing == 1:
        for kind in _ORPHANS:
            if limit[kind] >= 2:
                out[kind] = 2
                return True
    return missing == 0


@warms_up
def _warm_up() -> None:
    hands, unseen = np.zeros((3, KINDS), np.int8), np.full(KINDS, 4, np.int8)
    hands[:, :13] = 1
    three = np.full(3, 13)
    draws = np.zeros((4, BLOCKS))
    make_ready(hands, np.zeros((3, KINDS)), unseen, three, np.zeros(3, np.int64), np.ones(3, np.bool_), draws)
