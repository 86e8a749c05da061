"""The points that a hand promises."""

from __future__ import annotations

import numpy as np
import pytest

from game.layout import ROUND_STATE
from policies.features.sight import SIGHT, fill_sight
from policies.features.worth import promise
from tests.scene import Scene


def seen(scene: Scene) -> np.void:
    sight: np.void = np.zeros(1, SIGHT)[0]
    fill_sight(np.array([scene.record], ROUND_STATE)[0], 0, sight)
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
