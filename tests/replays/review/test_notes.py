"""Notes in situations where the right figures are known."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from game.events import Four
from game.scoring.settlement import placements
from game.tiles import mjai_text
from replays.review.judging import Opinion
from replays.review.moments import Moment
from replays.review.notes import Standing, needs, placed
from replays.review.report import Reviewer
from replays.review.schema import NoteValue, ReviewDecision
from tests.policies.fakes import Scripted
from tests.replays.review.made import decided, predictor, record_of, reviewed
from tests.scene import Scene

READY = "123m456p78s11222z"


def told(decision: ReviewDecision, key: str) -> dict[str, NoteValue]:
    """The parameters of the only note with a key."""
    (found,) = (each.params for each in decision.notes if each.key == key)
    return found


def needed(scores: Four, player: int, round_index: int = 7, **table: int) -> list[dict[str, NoteValue]]:
    """The parameters of the notes on each better place."""
    standing = Standing(round_index, table.get("honba", 0), table.get("sticks", 0), scores)
    return [note.params for note in needs(standing, player, "hanchan")]


def test_a_win_after_which_the_game_goes_on() -> None:
    def goes_on(scores: Four, player: int, **at: int) -> dict[int, bool]:
        return {found["place"]: found["goes_on"] for found in needed(scores, player, **at)}

    # no player would have 30,000: a West round follows, but not after the last one
    assert goes_on((26000, 27000, 24000, 23000), 0) == {1: True}
    assert goes_on((26000, 27000, 24000, 23000), 0, round_index=11) == {1: False}
    assert goes_on((29000, 30000, 21000, 20000), 0) == {1: False}
    # the dealer continues unless in first place
    assert goes_on((40000, 25000, 11000, 24000), 3) == {2: True, 1: False}


def test_a_wait_in_the_own_river() -> None:
    scene = Scene("123m456p789s1122z", others={}).own("6s", "6s")
    scene.turn("9p").turn("9p").turn("9p").own("1z", "9s")
    assert told(decided(scene), "furiten_after") == {
        "discard": "9s",
        "by": "played",
        "waits": ["6s", "9s"],
        "thrown": ["6s", "9s"],
    }
    scene.turn("8p").turn("8p").turn("8p").own("8p", "8p")
    before = decided(scene)
    assert told(before, "furiten_waits") == {"waits": ["6s", "9s"], "thrown": ["6s", "9s"]}
    assert before.hand.furiten


def test_furiten_is_noted_for_the_preferred_discard_too() -> None:
    scene = Scene(READY).own("6s", "6s").turn("9p").turn("9p").turn("9p").draw("8s")
    into, out_of = (next(a for a in scene.legal() if mjai_text(a.tile) == text) for text in ("8s", "7s"))
    expected = {"discard": "8s", "waits": ["6s", "9s"], "thrown": ["6s"]}
    for done, preferred, by in (("7s", into, "preferred"), ("8s", out_of, "played"), ("8s", into, "both")):
        found = decided(deepcopy(scene).discard(done), Scripted({preferred: 1.0}))
        notes = [each.params for each in found.notes if each.key == "furiten_after"]
        assert notes == [{**expected, "by": by}]


def test_riichi_that_would_be_furiten_says_so() -> None:
    scene = (
        Scene("123m456p78s11222z").own("6s", "6s").turn("9p").turn("9p").turn("9p").draw("9p").riichi("9p")
    )
    found = told(reviewed(record_of(scene), 0).decisions[1], "riichi_choice")
    assert (found["discard"], found["thrown"]) == ("9p", ["6s"])


def test_a_wait_of_which_no_copy_is_left_is_no_wait_to_hope_for() -> None:
    scene = Scene(READY, dora="9s").own("9p", "9p").turn("9s").turn("9s").turn("9s").own("8p", "8p")
    hand = decided(scene).hand
    assert (hand.waits, hand.waits_gone) == (("6s",), ("9s",))


def test_a_passed_winning_tile() -> None:
    scene = Scene(READY, round_index=3).turn("9p").own("9p", "9p").turn("6s").turn("1z").draw()
    found = decided(scene)
    assert [option.action.kind for option in found.options] == ["pass", "pon"]
    assert told(found, "furiten_turn") == {"waits": ["6s", "9s"]}


def test_a_passed_winning_tile_in_riichi() -> None:
    scene = Scene("123m456p78s11122z").draw("9p").riichi("9p").turn("6s").turn("9m").turn("8m")
    found = decided(scene.draw("1z").ankan("1z"))
    assert [option.action.kind for option in found.options] == ["ankan", "discard"]
    assert [each.key for each in found.notes] == ["furiten_riichi"]
    assert found.hand.furiten


def test_a_win_that_would_end_the_game_in_fourth_place() -> None:
    scores = (1000, 40000, 30000, 29000)
    scene = (
        Scene(READY, round_index=7, scores=scores, dora="1z").turn("9p").own("9p", "9p").turn("6s").turn("1p")
    )
    found = decided(scene)
    assert found.agrees
    assert told(found, "win_declined") == {"place": 4}


def test_no_rule_is_blamed_for_the_win_that_an_engine_declines() -> None:
    class Passing:
        name = identity = "passing"

        def opinions(self, moments: Sequence[Moment], *_: Any) -> list[Opinion]:
            even = [dict.fromkeys(moment.legal, 0.5) for moment in moments]
            return [Opinion([*each][-1], "call", "model", each, frozenset({"call"})) for each in even]

    scene = Scene(READY, round_index=3).turn("9p").own("9p", "9p").turn("6s").turn("1p")
    found = Reviewer("suzaku test", Passing(), predictor()).review(record_of(scene), 0).decisions[-1]
    assert "ron" in [option.action.kind for option in found.options]
    assert (found.preferred.kind, found.notes) == ("pass", ())


def test_riichi_is_explained() -> None:
    scene = Scene(READY).draw("9p").riichi("9p")
    found = told(reviewed(record_of(scene), 0).decisions[0], "riichi_choice")
    assert found["waits"] == ["6s", "9s"]
    assert found["tiles"] == 7  # four and four, less the indicator, which is a 9s
    assert found["discard"] == "9p"


def test_a_red_five_discarded_for_nothing() -> None:
    assert told(decided(Scene("05m147p258s12345z").own("6z", "0m")), "red_five") == {"tile": "5mr"}
    assert decided(Scene("0m147p258s123456z").own("6z", "0m")).notes == ()


def test_the_place_in_the_last_round() -> None:
    standing = Standing(7, 0, 0, (30000, 31000, 20000, 19000))
    assert placed(standing, 0).params == {
        "place": 2,
        "above": 1000,
        "below": 10000,
        "above_player": 1,
        "below_player": 2,
    }


@pytest.mark.parametrize(
    ("scores", "player", "table", "expected"),
    [
        # 1000 behind with another dealer: on equal points seat 0 is ahead of seat 1
        ((30000, 31000, 20000, 19000), 0, {}, {"place": 1, "tsumo": 1100, "ron": 1000, "direct": 1000}),
        # seat 1 behind seat 0 has to be ahead of it
        ((31000, 30000, 20000, 19000), 1, {}, {"place": 1, "tsumo": 1100, "ron": 1300, "direct": 1000}),
        # 9,000 behind the dealer, who pays 3,200 of 1,600 and 3,200: 9,600 in total
        ((21000, 30500, 18500, 30000), 0, {}, {"place": 2, "tsumo": 6400, "ron": 12000, "direct": 5200}),
        # 3,300 behind; a ron brings 300 and 1,000 more
        ((30000, 33300, 18000, 18700), 0, {"honba": 1, "sticks": 1}, {"ron": 2000, "direct": 1000}),
    ],
)
def test_the_points_needed_for_the_next_place(
    scores: Four, player: int, table: dict[str, int], expected: dict[str, int]
) -> None:
    nearest = needed(scores, player, **table)[0]
    assert nearest["player"] == placements(scores).index(nearest["place"])
    assert nearest.items() >= expected.items()


def test_places_out_of_reach_are_left_out_and_the_others_listed_from_the_nearest() -> None:
    assert [found["place"] for found in needed((12300, 41200, 17800, 28700), 0)] == [3, 2, 1]
    assert needed((-60000, 100000, 35000, 25000), 0) == []


def test_the_last_round_is_noted_once_and_again_when_points_change() -> None:
    scores = (20000, 30000, 25000, 25000)
    scene = Scene("147m258p369s1234z", round_index=7, scores=scores)
    scene.turn("9p").own("5z", "5z").turn("9p").turn("9p").turn("9p").own("6z", "6z")
    keys = [[each.key for each in decision.notes] for decision in reviewed(record_of(scene), 0).decisions]
    assert keys[0][0] == "last_round"
    assert keys[0][1:] == ["last_round_needs"] * 3
    assert keys[1] == []
    assert not any(
        each.key.startswith("last_round")
        for each in decided(Scene("147m258p369s1234z", round_index=4).own("5z", "5z")).notes
    )
