from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from policies.hands.rounding import place_reds, round_greedily, round_together

KINDS = 34


def rounded_together(
    scores: NDArray[np.float64], unseen: NDArray[np.int8], sizes: list[int]
) -> NDArray[np.int8]:
    out = np.empty((3, KINDS), np.int8)
    round_together(scores, unseen, np.array(sizes), out)
    return out


def all_hands(unseen: NDArray[np.int8], sizes: list[int], kinds: int) -> list[NDArray[np.int64]]:
    """All ways to fill hands from the first kinds."""
    one = [
        [np.array(each) for each in itertools.product(range(4), repeat=kinds) if sum(each) == size]
        for size in sizes
    ]
    every = (np.stack(hands) for hands in itertools.product(*one))
    return [hands for hands in every if (hands.sum(0) <= unseen[:kinds]).all()]


@pytest.mark.parametrize("seed", range(12))
def test_hands_rounded_together_are_the_nearest_of_all(seed: int) -> None:
    dice = np.random.default_rng(seed)
    kinds, sizes = 4, [int(size) for size in dice.integers(1, 4, 3)]
    unseen = np.zeros(KINDS, np.int8)
    unseen[:kinds] = dice.integers(1, 3, kinds)
    while unseen.sum() < sum(sizes):
        unseen[dice.integers(kinds)] += 1
    scores = dice.normal(0.6, 0.8, (3, KINDS))
    found = rounded_together(scores, unseen, sizes)
    assert found.sum(1).tolist() == sizes
    assert (found.sum(0) <= unseen).all()

    def distance(hands: NDArray[np.int64]) -> float:
        return float(((hands - scores[:, :kinds]) ** 2).sum())

    least = min(map(distance, all_hands(unseen, sizes, kinds)))
    assert distance(found[:, :kinds].astype(np.int64)) == pytest.approx(least)


def test_greedy_rounding_takes_the_surest_numbers_first_and_fills_the_rest_at_random() -> None:
    scores = np.zeros((3, KINDS))
    scores[0, 0], scores[1, 0], scores[2, 1] = 2.9, 3.0, 1.4
    unseen = np.full(KINDS, 4, np.int8)
    out = np.empty((3, KINDS), np.int8)
    round_greedily(scores, unseen, np.array([4, 3, 1]), np.linspace(0.0, 0.99, 42), out)
    assert out[1, 0] == 3  # nearest to a whole number
    assert out[0, 0] >= 1  # the fourth copy
    assert out[2, 1] == 1
    assert out.sum(1).tolist() == [4, 3, 1]
    assert (out.sum(0) <= 4).all()


def test_a_network_that_answers_nothing_is_filled_at_random_within_what_is_left() -> None:
    unseen = np.zeros(KINDS, np.int8)
    unseen[[3, 8, 20, 33]] = (4, 2, 4, 4)
    out = np.empty((3, KINDS), np.int8)
    draws = np.random.default_rng(0).random(42)
    round_greedily(np.zeros((3, KINDS)), unseen, np.array([4, 5, 5]), draws, out)
    assert (out.sum(0) == unseen).all()


def test_a_red_five_goes_to_the_surest_hand_that_has_a_five_or_stays_in_the_wall() -> None:
    hands, unseen = np.zeros((3, KINDS), np.int8), np.full(KINDS, 4, np.int8)
    hands[0, 4] = hands[1, 4] = hands[2, 13] = 1
    scores = np.array([[0.6, 0.9, 0.9], [0.7, 0.9, 0.9], [0.99, 0.4, 0.9]])
    out = np.empty((3, 3), np.bool_)
    place_reds(hands, unseen, np.array([True, True, True]), scores, out)
    assert out.tolist() == [[False] * 3, [True, False, False], [False] * 3]
    place_reds(hands, unseen, np.array([False, True, True]), scores, out)
    assert not out.any()


def test_a_red_five_must_be_in_a_hand_when_no_five_is_left_for_the_wall() -> None:
    hands, unseen = np.zeros((3, KINDS), np.int8), np.full(KINDS, 4, np.int8)
    hands[0, 4], unseen[4] = 1, 1
    out = np.empty((3, 3), np.bool_)
    place_reds(hands, unseen, np.array([True, False, False]), np.zeros((3, 3)), out)
    assert out.tolist() == [[True, False, False], [False] * 3, [False] * 3]
