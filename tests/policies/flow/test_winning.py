from __future__ import annotations

import pytest

from game.actions import Action, ActionKind
from game.events import Four
from game.scoring.settlement import GameLength
from policies.flow.flow import should_win
from tests.scene import Scene

HAND = "234678m23488p56s"
"""Waits for 4s and 7s; the 4s is worth 2,000 by ron, 700/1,300 by tsumo."""


def ron(
    scores: Four,
    *,
    round_index: int = 7,
    honba: int = 0,
    sticks: int = 0,
    length: GameLength = "hanchan",
    player: int = 0,
    hand: str = HAND,
) -> bool:
    """Whether the player would win 2,000 on the dealer's first discard."""
    others = {} if player == 0 else {player: hand}
    own = hand if player == 0 else "19m19p19s1234567z"
    scene = Scene(
        own, others=others, dora="9s", round_index=round_index, honba=honba, sticks=sticks, scores=scores
    ).turn("4s")
    action = Action(ActionKind.RON, int(scene.record["last_tile"]))
    return should_win(scene.record, player, action, length)


BEHIND = (5000, 30000, 30000, 35000)


def test_always_before_the_last_round() -> None:
    assert ron(BEHIND, round_index=3)
    assert ron((5000, 20000, 40000, 35000), round_index=5)


def test_never_to_end_the_game_in_fourth_place() -> None:
    assert not ron(BEHIND)
    assert not ron(BEHIND, round_index=3, length="tonpuu")


@pytest.mark.parametrize(
    ("why", "scores"),
    [
        ("passes the discarder", (10000, 40000, 38600, 11400)),
        ("draws level with a later seat", (10000, 44000, 12000, 34000)),
        ("was third already", (12500, 44000, 12000, 31500)),
        ("a dealer below 0 is last", (500, 50000, 47600, 1900)),
    ],
)
def test_always_when_the_win_leaves_the_last_place(why: str, scores: Four) -> None:
    assert ron(scores), why


def test_a_tie_with_an_earlier_seat_is_still_fourth() -> None:
    assert not ron((12000, 10000, 44000, 34000), player=1)
    assert ron((11900, 10000, 44000, 34100), player=1)


def test_honba_and_sticks_count() -> None:
    assert not ron((10000, 50000, 12200, 27800))
    assert ron((10000, 50000, 12200, 27800), honba=1)
    assert ron((10000, 50000, 12200, 26800), sticks=1)


def test_a_win_that_does_not_end_the_game_is_taken() -> None:
    nobody_has_enough = (15000, 29900, 29000, 26100)
    assert ron(nobody_has_enough)
    assert ron(nobody_has_enough, round_index=3, length="tonpuu")


@pytest.mark.parametrize(
    ("round_index", "length", "scores", "taken"),
    [
        (9, "hanchan", (15000, 29900, 29000, 26100), True),
        (10, "hanchan", (15000, 30000, 28900, 26100), False),
        (11, "hanchan", (15000, 29900, 29000, 26100), False),  # West 4 is always the last round
        (7, "tonpuu", (15000, 29900, 29000, 26100), False),
        (6, "tonpuu", (15000, 29900, 26100, 29000), True),
    ],
)
def test_sudden_death(round_index: int, length: GameLength, scores: Four, taken: bool) -> None:
    assert ron(scores, round_index=round_index, length=length) == taken


def test_a_dealer_who_is_not_first_plays_on_and_so_takes_it() -> None:
    scene = Scene(
        "19m19p19s1234567z", others={3: HAND}, dora="9s", round_index=7, scores=(30000, 32000, 33000, 5000)
    )
    scene.own("9m", "9m").own("4s", "4s")
    action = Action(ActionKind.RON, int(scene.record["last_tile"]))
    assert should_win(scene.record, 3, action, "hanchan")


@pytest.mark.parametrize(("third", "taken"), [(7600, True), (7800, False)])
def test_a_tsumo_takes_points_from_all_players(third: int, taken: bool) -> None:
    scores = (4300, third, 50000, 38100 - third + 7600)
    scene = Scene(HAND, dora="9s", round_index=7, scores=scores).turn("9m")
    scene.own("1z", "1z").turn("1p").turn("1p").turn("1p").draw("4s")
    action = Action(ActionKind.TSUMO, int(scene.record["drawn"]))
    assert should_win(scene.record, 0, action, "hanchan") == taken


def test_an_offer_in_which_we_find_no_yaku_is_taken() -> None:
    assert ron(BEHIND, hand="234678m11999p56s")
