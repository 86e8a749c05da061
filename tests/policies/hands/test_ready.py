from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from game.tiles import KINDS, parse_hand
from policies.hands.ready import is_ready, make_ready, random_ready

RIICHI = np.array([True, False, True])
MELDS = np.array([0, 1, 0])
SIZES = np.array([13, 10, 13])


def counts(text: str) -> NDArray[np.int64]:
    return np.bincount([tile >> 2 for tile in parse_hand(text)], minlength=KINDS)


def random_hands(dice: np.random.Generator, unseen: NDArray[np.int8]) -> NDArray[np.int8]:
    tiles = dice.permutation(np.repeat(np.arange(KINDS), unseen))[: SIZES.sum()]
    parts = np.split(tiles, np.cumsum(SIZES)[:-1])
    return np.stack([np.bincount(part, minlength=KINDS) for part in parts]).astype(np.int8)


@pytest.mark.parametrize("seed", range(40))
def test_hands_in_riichi_become_ready_and_stay_within_what_is_left(seed: int) -> None:
    dice = np.random.default_rng(seed)
    unseen = np.minimum(4, dice.integers(0, 6, KINDS)).astype(np.int8)
    hands = random_hands(dice, unseen)
    scores = hands.astype(np.float64)
    assert make_ready(hands, scores, unseen, SIZES, MELDS, RIICHI, dice.random((4, 55)))
    assert is_ready(hands[0], 0)
    assert is_ready(hands[2], 0)
    assert (hands >= 0).all()
    assert (hands.sum(0) <= unseen).all()
    assert (hands.sum(1) == SIZES).all()


def test_a_ready_hand_is_left_as_it_is() -> None:
    hands = np.stack(
        [counts("123m456p789s1122z"), counts("2345m12345p5s"), counts("19m19p19s1234567z")]
    ).astype(np.int8)
    before, unseen = hands.copy(), np.full(KINDS, 4, np.int8)
    assert make_ready(hands, np.zeros((3, KINDS)), unseen, SIZES, MELDS, RIICHI, np.zeros((4, 55)))
    assert (hands == before).all()


@pytest.mark.parametrize(
    ("text", "melds"),
    [
        ("123m456p789s1122z", 0),
        ("2355m", 3),
        ("1m", 4),
        ("1133m2244p5566s7z", 0),
        ("19m19p19s1234567z", 0),
        ("119m19p19s123456z", 0),
        ("1112345678999m", 0),
    ],
)
def test_a_ready_hand_is_found_where_only_its_own_tiles_are_left(text: str, melds: int) -> None:
    limit = counts(text)
    for seed in range(5):
        out = np.zeros(KINDS, np.int8)
        size = int(limit.sum())
        assert random_ready(limit, size, melds, np.random.default_rng(seed).random(55), out)
        assert (out == limit).all()


def test_a_ready_hand_with_a_drawn_tile_has_one_more() -> None:
    limit = counts("123m456p789s1122z3z")
    out = np.zeros(KINDS, np.int8)
    assert random_ready(limit, 14, 0, np.random.default_rng(0).random(55), out)
    assert out.sum() == 14
    assert is_ready(out, 0)


def test_what_is_impossible_is_said() -> None:
    unseen = counts("147m258p369s1234z").astype(np.int8)
    hands = np.zeros((3, KINDS), np.int8)
    hands[0] = unseen
    sizes, melds, riichi = np.array([13, 0, 0]), np.zeros(3, np.int64), np.array([True, False, False])
    assert not make_ready(hands, np.zeros((3, KINDS)), unseen, sizes, melds, riichi, np.zeros((4, 55)))


def test_others_give_up_the_only_tiles_that_make_a_hand_ready() -> None:
    unseen = counts("147m258p369s1234z").astype(np.int8) + counts("123m456p789s1122z").astype(np.int8)
    hands = np.zeros((3, KINDS), np.int8)
    hands[0], hands[1] = counts("147m258p369s1234z"), counts("123m456p789s1122z")
    sizes, melds, riichi = np.array([13, 13, 0]), np.zeros(3, np.int64), np.array([True, False, False])
    draws = np.random.default_rng(0).random((4, 55))
    assert make_ready(hands, np.zeros((3, KINDS)), unseen, sizes, melds, riichi, draws)
    assert is_ready(hands[0], 0)
    assert (hands.sum(0) == unseen).all()
    assert (hands.sum(1) == sizes).all()
