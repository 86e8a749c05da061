"""A player's decisions, and the actions taken."""

from __future__ import annotations

import pytest

from game.actions import PASS, ActionKind
from game.events import Discard, Draw, EndGame, EndRound, GameEvent, PlayerLeft, PlayerReturned, Win
from game.tiles import mjai_text
from kit.errors import ReplayFormatError
from tests.replays.review.made import drawn, followed
from tests.scene import Scene

WAITING = "123m456p78s11222z"
"""Ready on 6s and 9s."""


def win(player: int, from_player: int, tile: int) -> Win:
    return Win(player, from_player, tile, (tile,), 30, 1000, 0, ((1, 1),), (), (), -1, (0, 0, 0, 0), 0, 0)


def test_each_own_discard_is_a_decision() -> None:
    found = followed(Scene("147m258p369s1234z").own("5z", "5z").turn("9p"))
    (moment,) = found.moments
    assert (moment.round, moment.event) == (0, 1)
    assert mjai_text(moment.done.tile) == "P"
    assert moment.done in moment.legal


def test_the_same_face_is_the_same_discard() -> None:
    found = followed(Scene("1147m258p369s123z").own("1m", "1m"))
    assert found.moments[0].done.tile == found.rounds[0].events[1].tile  # type: ignore[union-attr]
    by_hand = Scene("1147m258p369s123z").draw("1m").discard("1m", tsumogiri=False)
    (moment,) = followed(by_hand).moments
    assert moment.done.tile == moment.record["drawn"]


def test_a_call_that_is_made_and_one_that_is_passed() -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m")
    assert [moment.done for moment in followed(scene).moments[1:]] == []  # no event follows yet
    passed = followed(scene.draw("9m"))
    assert [moment.done for moment in passed.moments[1:]] == [PASS]
    called = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m")
    called.chi("4m", "5m", player=0).discard("1z")
    kinds = [moment.done.kind for moment in followed(called).moments[1:]]
    assert kinds == [ActionKind.CHI, ActionKind.DISCARD]


def test_a_pon_hides_the_next_players_chi() -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m").pon(1)
    found = followed(scene)
    assert len(found.moments) == 1
    assert found.hidden == 1


@pytest.mark.parametrize("end", [EndRound(), EndGame((25000,) * 4, (0,) * 4)])
def test_nothing_is_judged_where_the_record_does_not_tell_what_happened(end: GameEvent) -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m")
    found = followed(scene.apply(end))
    assert (len(found.moments), found.hidden) == (1, 1)


def test_another_players_ron_hides_a_call_but_not_a_declined_ron() -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m")
    tile = int(scene.record["last_tile"])
    found = followed(scene, win(1, 3, tile))
    assert (len(found.moments), found.hidden) == (1, 1)
    scene = Scene(WAITING, round_index=3).turn("9p").own("9p", "9p").turn("6s")
    tile = int(scene.record["last_tile"])
    assert followed(scene, win(2, 1, tile)).moments[-1].done is PASS
    both = followed(scene, win(2, 1, tile), win(0, 1, tile))
    assert both.moments[-1].done.kind is ActionKind.RON


def test_a_ron_that_no_rule_allows_is_no_decision() -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").turn("3m")
    found = followed(scene, win(0, 3, int(scene.record["last_tile"])))
    assert [moment.done.kind for moment in found.moments] == [ActionKind.DISCARD]


def test_a_riichi_paid_comes_between_a_tile_and_its_claim() -> None:
    scene = Scene("45m11p369s147s123z").own("9p", "9p").turn("9s").turn("8s").draw().riichi("3m")
    scene.chi("4m", "5m", player=0).discard("1z")
    kinds = [moment.done.kind for moment in followed(scene).moments[1:]]
    assert kinds == [ActionKind.CHI, ActionKind.DISCARD]


def test_the_tile_of_an_added_kan_may_be_won_on() -> None:
    scene = Scene("12m456p789s11222z").own("9p", "9p").turn("9s").turn("8s").turn("3m").pon(1)
    scene.discard("9s").turn("8s").turn("1p").own("9m", "9m").draw().kakan("3m")
    tile = scene.events[-1].tile  # type: ignore[union-attr]
    robbed = followed(scene, win(0, 1, tile)).moments[-1]
    assert robbed.done.kind is ActionKind.RON
    assert [action.kind for action in robbed.legal] == [ActionKind.RON, ActionKind.PASS]


def test_three_who_win_at_once_have_all_won() -> None:
    scene = Scene(WAITING, round_index=3).turn("9p").own("9p", "9p").turn("6s")
    assert followed(scene, *drawn("triple_ron")).moments[-1].done.kind is ActionKind.RON


def test_nine_terminals_are_a_decision() -> None:
    scene = Scene("19m19p19s123456z5p").draw("7z")
    found = followed(scene, *drawn("nine_terminals"))
    assert [moment.done.kind for moment in found.moments] == [ActionKind.NINE_TERMINALS]


def test_a_red_five_and_a_plain_one_alone_are_no_choice() -> None:
    scene = Scene("05m11223344p567z").own("9s", "9s")
    for called, discarded in (("1p", "5z"), ("2p", "6z"), ("3p", "7z"), ("4p", "5m")):
        scene.turn(called).pon(0).discard(discarded)
    discarded = [moment.done.kind for moment in followed(scene).moments]
    assert discarded[-2:] == [ActionKind.DISCARD, ActionKind.PON]


def test_in_riichi_nothing_is_left_to_decide() -> None:
    scene = Scene(WAITING).draw("9p").riichi("9p").turn("1p").turn("9m").turn("8m").own("4z", "4z")
    kinds = [moment.done.kind for moment in followed(scene).moments]
    assert kinds == [ActionKind.RIICHI]  # its discard was the only one that leaves the hand ready


def test_an_absent_player_decides_nothing() -> None:
    scene = Scene("147m258p369s1234z").own("5z", "5z").turn("9p").turn("9p").turn("9p")
    scene.apply(PlayerLeft(0)).own("6z", "6z").turn("1p").turn("1p").apply(PlayerReturned(0)).turn("1p")
    scene.own("7z", "7z")
    assert [mjai_text(moment.done.tile) for moment in followed(scene).moments] == ["P", "C"]


def test_the_indicator_of_an_open_kan_is_not_seen_before_the_discard() -> None:
    scene = Scene("222m147p258s1234z").own("9p", "9p").turn("2m").daiminkan(0).draw("5z").dora("1m")
    moment = followed(scene.discard("5z")).moments[-1]
    assert moment.record["indicator_count"] == 1
    assert moment.event == 6  # the draw


def test_an_impossible_move_is_refused_with_its_round() -> None:
    scene = Scene("147m258p369s1234z", round_index=5, honba=2)
    events = [Draw(1, -1), Discard(1, scene.hand()[0], False)]
    with pytest.raises(ReplayFormatError, match=r"^S2-2: "):
        followed(scene, *events)


def test_a_move_that_a_rule_forbids_is_no_choice_to_compare_and_the_game_is_followed_on() -> None:
    called = Scene("345m11p2369s147s1z").own("9p", "9p").turn("9s").turn("8s").turn("5m")
    called.chi("3m", "4m", player=0).discard("5m")  # kuikae
    called.turn("9p").turn("9m").turn("2m").own("8p", "8p")
    kinds = [moment.done.kind for moment in followed(called).moments]
    assert kinds == [ActionKind.DISCARD, ActionKind.CHI, ActionKind.DISCARD]
