"""The key of an information set, the stages, and what the policies do with hands a player recognises."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from game.tiles import KINDS, kind_text, parse_hand
from game.two_player.layout import ACTIONS, DRAWS, OVER, POSITION, TILES, WIN, shuffle
from game.two_player.rules import deal
from policies.two_player.abstraction import (
    LIMITS,
    NORMAL,
    PAIRS,
    TRIPLETS,
    NodeKey,
    decode,
    encode,
    has_chi,
    key_of,
    policies_of,
    stage_of,
)
from policies.two_player.heuristics import act, best_discard, missing
from policies.two_player.playing import (
    BY_TABLE,
    COMMITMENT,
    RANDOM_ACTIONS,
    advance,
    begin,
    commit,
    play_duel,
    random_action,
)
from tests.game.two_player.game import TwoPlayerGame, seeded_wall


def counts(text: str) -> np.ndarray:
    return np.bincount([tile >> 2 for tile in parse_hand(text)], minlength=KINDS).astype(np.int8)


def unseen_beside(hand: np.ndarray) -> np.ndarray:
    """Everything that the hand does not hold."""
    deck = np.zeros(KINDS, np.int8)
    deck[[*range(9), *range(27, 34)]] = 4
    return deck - hand


def test_every_key_survives_the_round_trip() -> None:
    ranges = [range(limit + 1) for limit in LIMITS]
    numbers = [encode(NodeKey(*fields)) for fields in product(*ranges)]
    assert len(set(numbers)) == (DRAWS + 1) * 7 * 5 * 15 * 15 == len(numbers)
    assert all(encode(decode(number)) == number for number in numbers[:: 1 + len(numbers) // 50_000])
    assert max(numbers) < 1 << 20
    for number in numbers[::1_000]:
        key = decode(number)
        assert policies_of(number) == (3 if key.characters + key.honours >= 13 else 2)


@pytest.mark.parametrize(
    "fields", [(39, 0, 0, 7, 7), (1, 7, 0, 7, 7), (1, 0, 5, 7, 7), (1, 0, 0, 15, 0), (-1, 0, 0, 7, 7)]
)
def test_impossible_keys_are_refused(fields: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 0 to"):
        encode(NodeKey(*fields))
    with pytest.raises(ValueError, match=r"expected 0 to|not the number"):
        decode(1 << 20)


def test_the_key_describes_concealed_tiles_and_melds() -> None:
    dealt = [tile >> 2 for tile in parse_hand("1122m3377m11223z" + "4455m6688m44556z")]
    rest = [kind for kind in [*range(9), *range(27, 34)] for _ in range(4)]
    for kind in dealt:
        rest.remove(kind)
    for kind in (1, 32):
        rest.insert(0, rest.pop(rest.index(kind)))
    game = TwoPlayerGame([*dealt, *rest])
    assert decode(key_of(game.position)) == NodeKey(round=1, pairs=6, triplets=0, characters=8, honours=6)
    for text in ("pass", "discard 1z"):
        game.play(text)
    # player 1 holds 13 tiles, and the offered one is not among them
    assert decode(key_of(game.position)) == NodeKey(round=1, pairs=6, triplets=0, characters=8, honours=5)
    for text in ("pass", "pass", "discard 2m", "pon"):
        game.play(text)
    key = key_of(game.position)
    assert decode(key) == NodeKey(round=2, pairs=4, triplets=1, characters=6, honours=5)
    assert policies_of(key) == 2


@pytest.mark.parametrize(
    ("hand", "policy", "left"),
    [
        ("123456789m1122z", NORMAL, 1),
        ("147m258m1234567z", NORMAL, 6),  # three sets of two, one of one, and the pair
        ("111222333m4455z", TRIPLETS, 1),
        ("1122334455667m", TRIPLETS, 4),
        ("1122334455667m", PAIRS, 1),
        ("1111222233334m", PAIRS, 1),
        ("123456789m1234z", PAIRS, 7),
    ],
)
def test_missing_tiles(hand: str, policy: int, left: int) -> None:
    hand34 = counts(hand)
    assert missing(hand34, 0, unseen_beside(hand34), policy) == left


@pytest.mark.parametrize(
    ("hand", "policy", "discard"),
    [
        ("123456789m11223z", NORMAL, "3z"),
        ("12345678m112233z", NORMAL, "3z"),
        ("111222333m44556z", TRIPLETS, "6z"),
        ("11223344556678m", PAIRS, "8m"),
    ],
)
def test_discards(hand: str, policy: int, discard: str) -> None:
    hand34 = counts(hand)
    kind, _, _ = best_discard(hand34, 0, unseen_beside(hand34), policy)
    assert kind_text(kind) == discard


def test_triplets_know_which_copies_are_gone() -> None:
    """With two copies of a pair's kind gone, it can only be the pair, and the other pair must grow."""
    hand34 = counts("111222333m4455z")
    unseen = unseen_beside(hand34)
    assert missing(hand34, 0, unseen, TRIPLETS) == 1
    unseen[30] = unseen[31] = 0
    assert missing(hand34, 0, unseen, TRIPLETS) > 1


def test_policies_reach_their_own_wins() -> None:
    """Against each other, all triplets and seven pairs win with two points far more often than normal."""
    position, commitment = np.zeros(1, POSITION)[0], np.zeros(1, COMMITMENT)[0]
    table = np.zeros((1, 3))
    wall = np.zeros(TILES, np.int8)
    doubles = []
    for policy in (NORMAL, TRIPLETS, PAIRS):
        wins = []
        for number in range(400):
            shuffle(0, number, wall)
            points = play_duel(position, wall, commitment, (policy, NORMAL), (table, table), 0, number)
            wins += [points] if points > 0 else []
        doubles.append(sum(points == 2 for points in wins) / len(wins))
    assert doubles[NORMAL] < 0.1
    assert doubles[TRIPLETS] > 0.3
    assert doubles[PAIRS] > 0.7


def test_a_policy_is_chosen_once_in_each_stage_and_a_chi_leaves_no_choice() -> None:
    position, commitment = np.zeros(1, POSITION)[0], np.zeros(1, COMMITMENT)[0]
    wall = np.zeros(TILES, np.int8)
    most = 0
    for number in range(200):
        shuffle(2, number, wall)
        deal(position, wall)
        begin(commitment)
        chosen: list[tuple[int, int]] = []
        while (player := advance(position, wall, commitment)) >= 0:
            assert not has_chi(position, player)
            stage = stage_of(position)
            chosen.append((player, stage))
            commit(commitment, player, (number + len(chosen)) % policies_of(key_of(position)), stage)
        assert position["phase"] == OVER
        assert len(set(chosen)) == len(chosen)
        most = max(most, len(chosen))
    assert most == 6


def test_policies_and_random_play_act_legally_and_never_change_the_position() -> None:
    legal = np.zeros(ACTIONS, np.bool_)
    for number in range(30):
        game = TwoPlayerGame(seeded_wall(9, number))
        while not game.over:
            position = game.position
            before = position.tobytes()
            for policy in (NORMAL, TRIPLETS, PAIRS):
                assert act(position, policy) in game.legal()
            for place, action in enumerate(game.legal()):
                assert random_action(position, legal, place / len(game.legal()) + 1e-9) == action
            assert position.tobytes() == before
            game.play(WIN if WIN in game.legal() else act(game.position, number % 3))


def test_a_game_depends_on_its_numbers_alone() -> None:
    position, commitment = np.zeros(1, POSITION)[0], np.zeros(1, COMMITMENT)[0]
    wall = np.array(seeded_wall(1, 2), np.int8)
    table = np.zeros((1 << 20, 3))

    def ends(ways: tuple[int, int]) -> list[bytes]:
        found = []
        for number in range(60):
            play_duel(position, wall, commitment, ways, (table, table), 1, number)
            found.append(position.tobytes())
        return found

    for ways in ((RANDOM_ACTIONS, BY_TABLE), (BY_TABLE, NORMAL), (BY_TABLE, BY_TABLE)):
        assert ends(ways) == ends(ways)
        assert len(set(ends(ways))) > 1
