"""The rules of two-player mahjong: properties, hands a player recognises, and an independent referee."""

from __future__ import annotations

import copy
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from game.tiles import KINDS, kind_text, parse_hand
from game.two_player.layout import (
    DECK,
    MELD_CHI,
    MELD_PON,
    TILES,
    WIN,
    drawn_bits,
)
from game.two_player.rules import points_of
from policies.flow import draws
from policies.two_player.heuristics import act
from tests.game.two_player.game import MELD_NAMES, TEXTS, TwoPlayerGame, meld_tiles, seeded_wall
from tests.game.two_player.referee import Referee
from tests.scale import scaled


def chosen(game: TwoPlayerGame, rng: random.Random, manner: int) -> int:
    """A legal action: any in every fourth game; else mostly what a policy does, so that games end in wins."""
    legal = game.legal()
    if manner == 3 or rng.random() < 0.05:
        return rng.choice(legal)
    return WIN if WIN in legal else act(game.position, manner)


def tiles_in_play(game: TwoPlayerGame) -> Counter[int]:
    """All tiles, wherever they are."""
    position = game.position
    found = Counter(int(kind) for kind in game.wall[position["front"] : position["back"]])
    for player in (0, 1):
        found.update(game.hand(player))
        for meld in position["melds"][player][: position["meld_count"][player]]:
            found.update(meld_tiles(int(meld)))
        found.update(game.rivers()[player])
    return found


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


@settings(max_examples=scaled(12, 1_000), deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(0, 3))
def test_every_legal_action_can_be_played(seed: int, manner: int) -> None:
    rng = random.Random(seed)
    game = TwoPlayerGame(seeded_wall(seed, 0))
    deck = Counter([*DECK] * 4)
    while not game.over:
        legal = game.legal()
        for tried in legal if rng.random() < 0.2 else (rng.choice(legal),):
            branch = copy.deepcopy(game)
            branch.play(tried)
            assert tiles_in_play(branch) == deck
            assert bool(branch.legal()) != branch.over
        game.play(chosen(game, rng, manner))


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


def test_kans_draw_from_the_end_and_a_discard_can_be_called() -> None:
    hand0 = parse_hand("1111m2m4567m11z56z")
    hand1 = parse_hand("222m3456m1z222z37z")
    assert len(hand0) == len(hand1) == 13
    dealt = [tile >> 2 for tile in (*hand0, *hand1)]
    rest = list((Counter([*DECK] * 4) - Counter(dealt)).elements())
    game = TwoPlayerGame([*dealt, *rest])
    played = ["ankan 1m", "pass", "discard 2m", "daiminkan", "pass", "discard 1z"]
    for text in played:
        game.play(text)
    assert [MELD_NAMES[game.position["melds"][player][0] // KINDS] for player in (0, 1)] == [
        "ankan",
        "daiminkan",
    ]
    assert game.position["back"] == TILES - 2  # both drew from the end
    assert "pon" in {TEXTS[action] for action in game.legal()}


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
