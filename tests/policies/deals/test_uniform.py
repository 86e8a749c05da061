"""Uniform deals against an enumeration of all of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from game.shanten import waits
from game.tiles import parse_hand
from kit.errors import StateMismatchError
from policies.deals import uniform
from policies.deals.deal import ANY_HAND, READY, READY_AFTER_DISCARD, Unseen
from policies.deals.uniform import uniform_tiles

POOL = np.array(sorted(parse_hand("1123345m19s")), np.int16)


def unseen(sizes: tuple[int, int, int], needs: tuple[int, int, int], melds: tuple[int, int, int]) -> Unseen:
    return Unseen(POOL, *(np.array(each, np.int64) for each in (sizes, needs, melds)))


def is_ready(hand: tuple[int, ...], melds: int) -> bool:
    counts = np.bincount(np.array(hand) >> 2, minlength=34).astype(np.int8)
    return bool(waits(counts, melds))


def far_from(found: Counter[tuple[frozenset[int], ...]], expected: set[tuple[frozenset[int], ...]]) -> float:
    """Largest deviation from equal counts, in standard deviations."""
    assert set(found) <= expected
    mean = sum(found.values()) / len(expected)
    return max(abs(found[each] - mean) for each in expected) / mean**0.5


def test_one_ready_hand_and_one_of_which_nothing_is_known() -> None:
    some = unseen((2, 4, 0), (ANY_HAND, READY, ANY_HAND), (4, 3, 4))
    expected = {
        (frozenset(ready), frozenset(other))
        for ready in combinations(POOL.tolist(), 4)
        if is_ready(ready, 3)
        for other in combinations(set(POOL.tolist()) - set(ready), 2)
    }
    drawn = uniform_tiles(some, 40 * len(expected), 1)
    found = Counter((frozenset(row[2:6]), frozenset(row[:2])) for row in drawn.tolist())
    assert len(expected) > 300
    assert far_from(found, expected) < 4.5


def test_two_ready_hands_that_compete_for_tiles() -> None:
    pool = np.array(sorted(parse_hand("112233445566m119p29s")), np.int16)
    sizes, needs, melds = np.array([4, 0, 4]), np.array([READY, ANY_HAND, READY]), np.array([3, 4, 3])
    ready = [set(hand) for hand in combinations(pool.tolist(), 4) if is_ready(hand, 3)]
    pairs = [(a, b) for a in ready for b in ready if not a & b]
    drawn = uniform_tiles(Unseen(pool, sizes, needs, melds), 6_000, 2)
    assert len(pairs) > 1_000
    for tile in pool.tolist():
        expected = sum(tile in a for a, _ in pairs) / len(pairs)
        deviation = (expected * (1 - expected) / len(drawn)) ** 0.5
        for hand in (drawn[:, :4], drawn[:, 4:8]):
            assert abs((hand == tile).any(axis=1).mean() - expected) < 4.5 * deviation


def test_the_tile_drawn_in_riichi_is_not_among_those_that_are_ready() -> None:
    some = unseen((5, 0, 0), (READY, ANY_HAND, ANY_HAND), (3, 4, 4))
    for row in uniform_tiles(some, 300, 3).tolist():
        assert is_ready(tuple(row[:4]), 3)


def test_after_a_declaration_some_discard_leaves_the_hand_ready() -> None:
    some = unseen((5, 0, 0), (READY_AFTER_DISCARD, ANY_HAND, ANY_HAND), (3, 4, 4))
    expected = {
        (frozenset(hand),)
        for hand in combinations(POOL.tolist(), 5)
        if any(is_ready(tuple(set(hand) - {tile}), 3) for tile in hand)
    }
    drawn = uniform_tiles(some, 60 * len(expected), 4)
    assert 20 < len(expected) < 126
    assert far_from(Counter((frozenset(row[:5]),) for row in drawn.tolist()), expected) < 4.5


def test_the_wall_is_shuffled() -> None:
    some = unseen((0, 0, 0), (ANY_HAND,) * 3, (4, 4, 4))
    drawn = uniform_tiles(some, 9_000, 5)
    for place in range(len(POOL)):
        counts = Counter(drawn[:, place].tolist())
        assert max(abs(count - 1_000) for count in counts.values()) < 4.5 * 1_000**0.5


def test_where_no_ready_hand_is_left_the_view_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform, "DRAWS", 1_000)
    kinds = np.array([tile for kind in (0, 4, 8, 9, 13, 17) for tile in (4 * kind,)], np.int16)
    some = Unseen(kinds, np.array([4, 0, 0]), np.array([READY, 0, 0]), np.array([3, 4, 4]))
    with pytest.raises(StateMismatchError, match="tenpai with the tiles left"):
        uniform_tiles(some, 1, 0)
