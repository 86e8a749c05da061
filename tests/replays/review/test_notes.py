"""Notes in situations where the right figures are known."""

from __future__ import annotations

from copy import deepcopy

import pytest

from game.events import Four
from game.scoring.settlement import deltas, placements, ron_points, tsumo_payments
from game.scoring.value import WinValue
from game.tiles import mjai_text
from replays.review.notes import Standing, needs, placed
from replays.review.schema import Note, ReviewDecision
from tests.policies.fakes import Scripted
from tests.replays.review.made import decided, record_of, reviewed
from tests.scene import Scene

READY = "123m456p78s11222z"
BELOW_MANGAN = {fu << han + 2 for fu in (30, 40, 50) for han in (1, 2, 3, 4) if fu << han + 2 < 2000}
BASES = sorted(BELOW_MANGAN | {2000, 3000, 4000, 6000, 8000})


def note(decision: ReviewDecision, key: str) -> Note | None:
    return next((each for each in decision.notes if each.key == key), None)


def needed(scores: Four, player: int, *, round_index: int = 7, honba: int = 0, sticks: int = 0) -> list[Note]:
    return list(needs(Standing(round_index, honba, sticks, scores), player, "hanchan"))


def test_a_win_after_which_the_game_goes_on() -> None:
    def goes_on(scores: Four, player: int, **at: int) -> dict[int, bool]:
        return {found.params["place"]: found.params["goes_on"] for found in needed(scores, player, **at)}

    # no player would have 30,000: a West round follows, but not after the last one
    assert goes_on((26000, 27000, 24000, 23000), 0) == {1: True}
    assert goes_on((26000, 27000, 24000, 23000), 0, round_index=11) == {1: False}
    assert goes_on((29000, 30000, 21000, 20000), 0) == {1: False}
    # the dealer continues unless in first place
    assert goes_on((40000, 25000, 11000, 24000), 3) == {2: True, 1: False}


def test_a_wait_in_the_own_river() -> None:
    scene = Scene("123m456p789s1122z", others={}).own("6s", "6s")
    scene.turn("9p").turn("9p").turn("9p").own("1z", "9s")
    after = note(decided(scene), "furiten_after")
    assert after is not None
    assert after.params == {"discard": "9s", "by": "played", "waits": ["6s", "9s"], "thrown": ["6s", "9s"]}
    scene.turn("8p").turn("8p").turn("8p").own("8p", "8p")
    before = decided(scene)
    found = note(before, "furiten_waits")
    assert found is not None
    assert found.params == {"waits": ["6s", "9s"], "thrown": ["6s", "9s"]}
    assert before.hand.furiten


def test_furiten_is_noted_for_the_preferred_discard_too() -> None:
    scene = Scene(READY).own("6s", "6s").turn("9p").turn("9p").turn("9p").draw("8s")
    into, out_of = (next(a for a in scene.legal() if mjai_text(a.tile) == text) for text in ("8s", "7s"))
    told = {"discard": "8s", "waits": ["6s", "9s"], "thrown": ["6s"]}
    for done, preferred, by in (("7s", into, "preferred"), ("8s", out_of, "played"), ("8s", into, "both")):
        found = decided(deepcopy(scene).discard(done), Scripted({preferred: 1.0}))
        notes = [each.params for each in found.notes if each.key == "furiten_after"]
        assert notes == [{**told, "by": by}]


def test_riichi_that_would_be_furiten_says_so() -> None:
    scene = (
        Scene("123m456p78s11222z").own("6s", "6s").turn("9p").turn("9p").turn("9p").draw("9p").riichi("9p")
    )
    found = note(reviewed(record_of(scene), 0).decisions[1], "riichi_choice")
    assert found is not None
    assert (found.params["discard"], found.params["thrown"]) == ("9p", ["6s"])


def test_a_wait_of_which_no_copy_is_left_is_no_wait_to_hope_for() -> None:
    scene = Scene(READY, dora="9s").own("9p", "9p").turn("9s").turn("9s").turn("9s").own("8p", "8p")
    hand = decided(scene).hand
    assert (hand.waits, hand.waits_gone) == (("6s",), ("9s",))


def test_a_passed_winning_tile() -> None:
    scene = Scene(READY, round_index=3).turn("9p").own("9p", "9p").turn("6s").turn("1z").draw()
    found = decided(scene)
    assert [option.action.kind for option in found.options] == ["pass", "pon"]
    told = note(found, "furiten_turn")
    assert told is not None
    assert told.params == {"waits": ["6s", "9s"]}


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
    told = note(found, "win_declined")
    assert told is not None
    assert told.params == {"place": 4}


def test_riichi_is_explained() -> None:
    scene = Scene(READY).draw("9p").riichi("9p")
    found = note(reviewed(record_of(scene), 0).decisions[0], "riichi_choice")
    assert found is not None
    assert found.params["waits"] == ["6s", "9s"]
    assert found.params["tiles"] == 7  # four and four, less the indicator, which is a 9s
    assert found.params["discard"] == "9p"


def test_a_red_five_discarded_for_nothing() -> None:
    found = note(decided(Scene("05m147p258s12345z").own("6z", "0m")), "red_five")
    assert found is not None
    assert found.params == {"tile": "5mr"}
    assert note(decided(Scene("0m147p258s123456z").own("6z", "0m")), "red_five") is None


def test_the_place_in_the_last_round() -> None:
    standing = Standing(7, 0, 0, (30000, 31000, 20000, 19000))
    assert placed(standing, 0).params == {
        "place": 2,
        "above": 1000,
        "below": 10000,
        "above_player": 1,
        "below_player": 2,
    }


def test_points_needed_for_first_place() -> None:
    # 1000 behind with another dealer: on equal points seat 0 is ahead of seat 1
    (first,) = needed((30000, 31000, 20000, 19000), 0)
    assert first.params == {
        "place": 1,
        "tsumo": 1100,
        "ron": 1000,
        "direct": 1000,
        "player": 1,
        "goes_on": False,
    }
    # seat 1 behind seat 0 has to be ahead of it
    (first,) = needed((31000, 30000, 20000, 19000), 1)
    assert first.params == {
        "place": 1,
        "tsumo": 1100,
        "ron": 1300,
        "direct": 1000,
        "player": 0,
        "goes_on": False,
    }


def test_a_self_draw_for_second_place() -> None:
    # 9,000 behind the dealer, who pays 3,200 of 1,600 and 3,200: 9,600 in total
    notes = needed((21000, 30500, 18500, 30000), 0)
    second = notes[0]
    assert second.params["place"] == 2
    assert second.params["player"] == 3
    assert second.params["tsumo"] == 6400
    assert second.params["direct"] == 5200
    assert second.params["ron"] == 12000


def test_honba_and_sticks_count() -> None:
    (first,) = needed((30000, 33300, 18000, 18700), 0, honba=1, sticks=1)
    # 3,300 behind; a ron brings 300 and 1,000 more
    assert first.params["ron"] == 2000
    assert first.params["direct"] == 1000


def test_places_out_of_reach_are_left_out_and_the_others_listed_from_the_nearest() -> None:
    assert [found.params["place"] for found in needed((12300, 41200, 17800, 28700), 0)] == [3, 2, 1]
    assert [found.params["place"] for found in needed((-60000, 100000, 35000, 25000), 0)] == []


@pytest.mark.parametrize("player", range(4))
@pytest.mark.parametrize(
    "scores", [(12300, 41200, 17800, 28700), (24000, 25900, 26000, 24100), (0, 40000, 36000, 24000)]
)
@pytest.mark.parametrize(("honba", "sticks"), [(0, 0), (2, 1)])
def test_each_need_is_enough_and_no_more(scores: Four, player: int, honba: int, sticks: int) -> None:
    def place_with(base: int, payer: int) -> int:
        value = WinValue(30, 1, 0, 0, (), (), base)
        changes = deltas(value, player, payer, 3, honba=honba, riichi_sticks=sticks)
        return placements([had + gets for had, gets in zip(scores, changes, strict=True)])[player]

    expected = []
    for place in range(placements(scores)[player] - 1, 0, -1):
        above = placements(scores).index(place)
        payers = {
            "tsumo": [player],
            "ron": [other for other in range(4) if other not in (player, above)],
            "direct": [above],
        }
        params = {"place": place, "player": above}
        for way, those in payers.items():
            enough = [base for base in BASES if all(place_with(base, payer) <= place for payer in those)]
            params[way] = _points(enough[0], player, tsumo=way == "tsumo") if enough else 0
        if any(params[way] for way in payers):
            expected.append(params)
    found = [each.params.copy() for each in needed(scores, player, honba=honba, sticks=sticks)]
    for params in found:
        del params["goes_on"]
    assert found == expected


def _points(base: int, player: int, *, tsumo: bool) -> int:
    if not tsumo:
        return ron_points(base, is_dealer=player == 3)
    from_dealer, from_other = tsumo_payments(base, is_dealer=player == 3)
    return 3 * from_other if player == 3 else from_dealer + 2 * from_other


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
