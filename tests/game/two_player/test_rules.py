"""The rules of two-player mahjong: hands a player recognises, and an independent referee."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from game.tiles import KINDS, kind_text, parse_hand
from game.two_player.layout import DECK, MELD_CHI, MELD_PON, WIN, drawn_bits
from game.two_player.rules import points_of
from policies.flow import draws
from policies.two_player.heuristics import act
from tests.game.two_player.game import MELD_NAMES, TEXTS, TwoPlayerGame, seeded_wall
from tests.game.two_player.referee import Referee
from tests.scale import scaled


def chosen(game: TwoPlayerGame, rng: random.Random, manner: int) -> int:
    """A legal action: any in every fourth game; else mostly what a policy does, so that games end in wins."""
    legal = game.legal()
    if manner == 3 or rng.random() < 0.05:
        return rng.choice(legal)
    return WIN if WIN in legal else act(game.position, manner)


@pytest.mark.parametrize(
    ("hand", "melds", "points"),
    [
        ("123456789m11222z", 0, 1),
        ("111222333m44455z", 0, 2),  # three sequences too, but triplets pay more
        ("112233445566m77z", 0, 2),  # seven pairs and four sequences
        ("1111m224455667z7z", 0, 2),  # four equal tiles are two pairs
        ("123456789m1122z1m", 0, 0),
        ("11m", 4, 1),
        ("23m", 4, 0),
        ("11122233344455m", 0, 2),
        ("1112345678999m5m", 0, 1),
    ],
)
def test_points_of_hands(hand: str, melds: int, points: int) -> None:
    hand34 = np.bincount([tile >> 2 for tile in parse_hand(hand)], minlength=KINDS).astype(np.int8)
    chis = np.full(4, KINDS * MELD_CHI, np.uint8)
    assert points_of(hand34, melds, chis) == points
    pons = np.full(4, KINDS * MELD_PON + 27, np.uint8)
    if melds:
        assert points_of(hand34, melds, pons) == 2 * points


def compare_with_referee(number: int) -> tuple[int, bool]:
    """Play a game with both; return its points and whether there was a kan."""
    rng = random.Random(number)
    wall = seeded_wall(5, number)
    game, referee = TwoPlayerGame(wall), Referee([kind_text(kind) for kind in wall])
    kan = False
    while not game.over:
        position = game.position
        assert (position["phase"], game.player, game.round) == (referee.phase, referee.player, referee.drawn)
        assert {TEXTS[action] for action in game.legal()} == referee.legal()
        action = TEXTS[chosen(game, rng, number % 4)]
        kan |= "kan" in action
        game.play(action)
        referee.play(action)
    position = game.position
    assert referee.over
    assert referee.legal() == set()
    assert (position["winner"], position["points"]) == (referee.winner, referee.points)
    for player in (0, 1):
        assert [kind_text(kind) for kind in game.hand(player)] == sorted(
            referee.hands[player], key=lambda tile: (tile[1], tile[0])
        )
        assert [kind_text(kind) for kind in game.rivers()[player]] == referee.rivers[player]
        melds = position["melds"][player][: position["meld_count"][player]]
        assert [(MELD_NAMES[meld // KINDS], kind_text(meld % KINDS)) for meld in melds] == referee.melds[
            player
        ]
    return int(position["points"]), kan


def test_games_are_those_of_the_referee() -> None:
    found = [compare_with_referee(number) for number in range(scaled(80, 10_000))]
    points = Counter(points for points, _ in found)
    assert min(points[0], points[1], points[2]) >= scaled(5, 10)
    assert sum(kan for _, kan in found) >= scaled(10, 20)


def test_deals_belong_to_their_seed_and_number() -> None:
    walls = {tuple(seeded_wall(seed, number)) for seed in range(10) for number in range(20)}
    assert len(walls) == 200
    assert seeded_wall(3, 4) == seeded_wall(3, 4)
    for numbers in ((0, 0, 0), (7, 123, 4), (2**31, 10**9, -63)):
        assert int(drawn_bits(*numbers)) == draws.drawn_bits(*numbers)


def test_deals_are_uniform() -> None:
    """Each kind is first in the wall as often as any other: chi-squared, 15 degrees of freedom."""
    first = Counter(seeded_wall(1, number)[0] for number in range(3_200))
    last = Counter(seeded_wall(1, number)[63] for number in range(3_200))
    for counts in (first, last):
        assert sum((counts[kind] - 200) ** 2 / 200 for kind in DECK) < 37.7  # 99.9 %
