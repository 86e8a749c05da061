"""A hand's distance from a yaku, checked against every complete hand that has it; and a hand's promise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from game.dora import dora_of
from game.layout import ROUND_STATE
from game.tiles import parse_hand
from policies.features.sight import SIGHT, look
from policies.features.worth import (
    missing_to_simples,
    missing_to_suit,
    missing_to_triplets,
    missing_to_value,
    promise,
)
from tests.policies.features.reference import SIMPLES
from tests.scene import Scene

TRIPLETS = [(k, k, k) for k in range(34)]
RUNS = [(k, k + 1, k + 2) for k in range(27) if k % 9 < 7]
HANDS = [
    "123m406p789s11223z",
    "2345678m345p4568s",
    "19m19p19s1234567z",
    "1199m2288p3377s1z",
    "222333444m5558p1s",
    "1112345678999m1p",
    "2244m668p3355s77z",
    "555z666z7z12m89p1s",
]


def counts(text: str) -> NDArray[np.int8]:
    return np.bincount([t >> 2 for t in parse_hand(text)], minlength=34).astype(np.int8)


def complete(
    allowed: list[int], fixed: tuple[int, ...] = (), sets: Sequence[tuple[int, ...]] = (*TRIPLETS, *RUNS)
) -> NDArray[np.int8]:
    """Every hand of four sets and a pair of these kinds, ``fixed`` being one of the sets."""
    pieces = [s for s in sets if set(s) <= set(allowed)]
    basis = np.array([np.bincount(s, minlength=34) for s in pieces], np.int8)
    chosen = np.array(list(combinations_with_replacement(range(len(pieces)), 3 if fixed else 4)))
    groups = basis[chosen].sum(axis=1, dtype=np.int8)
    if fixed:
        groups += np.bincount(fixed, minlength=34).astype(np.int8)
    groups = np.unique(groups[groups.max(axis=1) <= 4], axis=0)
    hands = [groups + 2 * np.eye(34, dtype=np.int8)[pair] for pair in allowed]
    every = np.concatenate(hands)
    kept: NDArray[np.int8] = every[every.max(axis=1) <= 4]
    return kept


def fewest(hand34: NDArray[np.int8], targets: NDArray[np.int8]) -> int:
    return int(np.maximum(targets - hand34, 0).sum(axis=1).min())


def fewest_pairs(hand34: NDArray[np.int8], allowed: list[int]) -> int:
    """Distance from seven pairs of these kinds: the best kinds first."""
    best = sorted((min(int(hand34[k]), 2) for k in allowed), reverse=True)[:7]
    return sum(2 - c for c in best)


def test_all_simples_is_as_near_as_the_nearest_such_hand() -> None:
    room = np.zeros(34, np.int8)
    # hands of one suit and a sample of the others; all of them would be millions
    targets = complete([k for k in SIMPLES if k < 18 or k in (20, 21, 22)])
    for text in HANDS:
        hand34 = counts(text)
        hand34[[k for k in range(34) if k >= 18 and k not in (20, 21, 22)]] = 0
        wanted = min(fewest(hand34, targets), fewest_pairs(hand34, SIMPLES))
        assert missing_to_simples(hand34, 0, room) == wanted, text


@pytest.mark.parametrize("suit", [0, 1, 2])
def test_one_suit_is_as_near_as_the_nearest_such_hand(suit: int) -> None:
    room = np.zeros(34, np.int8)
    allowed = [*range(9 * suit, 9 * suit + 9), *range(27, 34)]
    targets = complete(allowed)
    for text in HANDS:
        hand34 = counts(text)
        wanted = min(fewest(hand34, targets), fewest_pairs(hand34, allowed))
        assert missing_to_suit(hand34, 0, suit, room) == wanted, text


def test_triplets_are_as_near_as_the_nearest_such_hand() -> None:
    kinds = [*range(0, 6), 8, 9, 17, 18, 22, 26, *range(27, 34)]
    targets = complete(kinds, sets=TRIPLETS)
    for text in HANDS:
        hand34 = counts(text)
        hand34[[k for k in range(34) if k not in kinds]] = 0
        wanted = min(fewest(hand34, targets), fewest_pairs(hand34, list(range(34))))
        assert missing_to_triplets(hand34, 0) == wanted, text


def test_a_value_triplet_is_as_near_as_the_nearest_such_hand() -> None:
    kinds = [*range(9), *range(27, 34)]
    targets = np.concatenate([complete(kinds, fixed=(k, k, k)) for k in (27, 31, 32, 33)])
    for text in (
        "123456m1122347z",
        "1112345678999m",
        "123789m5556667z",
        "11122233344m55z",
        "2222m333444555z",
    ):
        scene = Scene(text, dora="9s")
        sight = seen(scene)
        wanted = fewest(counts(text), targets)
        assert missing_to_value(scene.record, sight, np.zeros(34, np.int8)) == wanted, text


def seen(scene: Scene) -> np.void:
    sight: np.void = np.zeros(1, SIGHT)[0]
    look(np.array([scene.record], ROUND_STATE)[0], 0, sight)
    return sight


@pytest.mark.parametrize(
    ("hand", "dora", "points"),
    [
        ("123m456p789s1122z", "9s", 3000),  # riichi and tsumo of the dealer: 1,000 all
        ("123m406p789s1122z", "9s", 6000),  # one more red five
        ("234m456p678s2255s", "9p", 6000),  # all simples
        ("123m456p789s1155z", "4z", 11700),  # two dora
        ("111z456p789s1122m", "9s", 11700),  # East as seat and round wind
        ("123456789m1122z", "9s", 12000),  # half flush
        ("1234567891122m", "9s", 24000),  # full flush: 8 han
    ],
)
def test_a_hand_promises_what_it_shows(hand: str, dora: str, points: int) -> None:
    scene = Scene(hand, dora=dora)
    assert promise(scene.record, seen(scene), -1, -1) == points


def test_an_open_hand_without_a_yaku_promises_nothing() -> None:
    scene = (
        Scene("23m406p789s11223z").own("4z", "4z").turn("5z").turn("6z").turn("1m").chi("2m", "3m", player=0)
    )
    assert promise(scene.record, seen(scene), -1, 29) == 0


def test_the_red_five_is_discarded_last() -> None:
    scene = Scene("123m055p789s1122z").draw("9p")
    with_red = promise(scene.record, seen(scene), -1, 13)
    scene = Scene("123m055p789s1122z").draw("9p").discard("5p").turn("9m").turn("9m").turn("9m").draw("8p")
    scene.discard("5p").turn("9m").turn("8m").turn("8m").draw("8p")
    assert promise(scene.record, seen(scene), -1, 13) < with_red


@pytest.mark.parametrize(
    ("indicator", "dora"), [(0, 1), (8, 0), (17, 9), (26, 18), (27, 28), (30, 27), (33, 31)]
)
def test_the_dora_follows_its_indicator(indicator: int, dora: int) -> None:
    assert dora_of(indicator) == dora
