"""The fold: what an event changes, and which events do not fit."""

import numpy as np
import pytest

from game.actions import ActionKind
from game.events import (
    Ankan,
    Chi,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndRound,
    GameEvent,
    Kakan,
    PlayerLeft,
    Pon,
    Riichi,
    RiichiAccepted,
    StartGame,
    StartRound,
    Win,
)
from game.layout import AT_MELD, PHASE_ENDED, PHASE_ROB, PHASE_TURN, RIVER_CALLED, RIVER_RIICHI
from game.packing import pack, pack_all
from game.state import clone, fold_packed, is_furiten, melds_of, new_round, river_of, unseen34
from game.table.endings import aborted_by
from kit.errors import StateMismatchError
from tests.scene import HIDDEN, Scene, same


def bits(*kinds: int) -> int:
    return sum(1 << k for k in kinds)


def test_the_deal_sets_the_table() -> None:
    scene = Scene("123m456p789s1122z", dora="3z", round_index=5, honba=2, sticks=1)
    rec = scene.record
    stated = [rec[name] for name in ("round_index", "dealer", "turn", "honba", "riichi_sticks")]
    assert stated == [5, 1, 1, 2, 1]
    assert rec["wall_left"] == 70
    assert list(rec["hand_size"]) == [13] * 4
    assert list(rec["hand_known"]) == [1, 0, 0, 0]
    assert rec["waits"][0] == bits(27, 28)
    assert unseen34(rec, 0)[29] == 3
    assert unseen34(rec, 0).sum() == 136 - 13 - 1


def test_a_called_tile_moves_to_the_meld_and_stays_marked_in_the_river() -> None:
    scene = (
        Scene("123m456p789s1122z").own("9p", "9p").turn("9m").turn("8m").turn("4m").chi("2m", "3m", player=0)
    )
    rec = scene.record
    called = river_of(rec, 3)[0]
    assert rec["river_marks"][3, 0] & RIVER_CALLED
    assert rec["where"][called] == AT_MELD
    assert rec["seen34"][3] == 1
    (meld,) = melds_of(rec, 0)
    assert (meld.called, meld.from_seat) == (called, 3)
    assert rec["is_open"][0]
    assert rec["hand_size"][0] == 11
    assert not rec["unbroken"]


def test_riichi_pays_its_stick_once_accepted_and_ippatsu_ends_with_the_next_discard() -> None:
    scene = Scene("123m456p789s1122z").draw("9p").riichi("9p")
    rec = scene.record
    assert rec["double_riichi"][0]
    assert rec["scores"][0] == 24000
    assert rec["riichi_sticks"] == 1
    assert rec["river_marks"][0, 0] & RIVER_RIICHI
    assert rec["ippatsu"][0]
    scene.turn("1m").turn("1m").turn("1m").own("8p", "8p")
    assert not rec["ippatsu"][0]


def test_a_call_before_the_first_discard_leaves_no_double_riichi() -> None:
    scene = Scene("123m456p789s1122z", round_index=2).turn("9p").pon(3).discard("9s").draw("9p").riichi("9p")
    assert scene.record["riichi"][0] == 2
    assert not scene.record["double_riichi"][0]


def test_four_winds_abort_no_round_after_a_closed_kan() -> None:
    scene = Scene("1111m456p789s1z22z").draw("9p").ankan("1m").draw("9p", player=0).dora("5s").discard("1z")
    scene.turn("1z").turn("1z").turn("1z")
    assert scene.record["discard_count"] == 4
    assert aborted_by(scene.record) is None


def test_letting_a_win_pass_in_riichi_is_furiten_for_good() -> None:
    scene = (
        Scene("123m456p789s1122z").draw("9p").riichi("9p").turn("1z").turn("3p").turn("3p").own("8p", "8p")
    )
    assert scene.record["missed_riichi"][0]
    assert is_furiten(scene.record, 0)


def test_tiles_passed_since_riichi_are_safe() -> None:
    scene = Scene().own("9p", "9p").draw().riichi("1s").turn("5p").turn("6p")
    # the last tile can still be won on by ron
    assert scene.record["safe34"][1] & bits(18, 13, 14) == bits(18, 13)
    scene.own("9p", "1m").draw()
    assert scene.record["safe34"][1] & bits(18, 13, 14, 0) == bits(18, 13, 14, 0)


def test_an_added_kan_can_be_robbed_before_its_draw() -> None:
    scene = Scene("123m456p78s55z112z").own("9p", "9p").turn("5z").pon(0).discard("7s")
    scene.turn("3p").turn("3p").turn("3p").draw("5z").kakan("5z")
    rec = scene.record
    assert rec["phase"] == PHASE_ROB
    scene.draw("6m", player=0)
    assert rec["rinshan"]
    assert rec["kan_count"] == 1
    assert rec["phase"] == PHASE_TURN
    scene.dora("4z").discard("8s")
    assert rec["indicator_count"] == 2
    assert not rec["rinshan"]


def test_ippatsu_outlasts_an_added_kan_until_the_draw_after_it() -> None:
    scene = Scene("123m456p78s55z112z", round_index=3).turn("5z").pon(0).discard("7s")
    scene.draw().riichi("9s").turn("3p").turn("4p").draw("5z").kakan("5z")
    assert scene.record["ippatsu"][1]
    scene.draw("6m", player=0)
    assert not scene.record["ippatsu"][1]


@pytest.mark.parametrize(("last", "field"), [("7z", "liable_dragons"), ("4z", "liable_winds")])
def test_the_player_who_gives_the_last_set_is_liable(last: str, field: str) -> None:
    sets, rest = (("5z", "6z", "7z"), "12345p1m1s") if last == "7z" else (("1z", "2z", "3z", "4z"), "1234p1m")
    scene = Scene(rest + "".join(text[0] * 2 for text in sets) + "z", dora="9s").own("9m", "9m")
    for i, text in enumerate(sets):
        assert scene.record[field][0] == -1
        scene.turn(text).pon(0).discard(f"{1 + i}p")
    assert scene.record[field][0] == 1


def test_a_wind_after_three_dragons_changes_no_liability() -> None:
    scene = Scene("1234p1m556677z11z", dora="9s").own("9m", "9m")
    for i, text in enumerate(("5z", "6z", "7z")):
        scene.turn(text).pon(0).discard(f"{1 + i}p")
    scene.turn("2s").turn("1z").pon(0)
    assert scene.record["liable_dragons"][0] == 1


def test_scores_and_sticks_are_settled_by_a_win() -> None:
    scene = Scene("123m456p789s1122z", sticks=1).own("9p", "9p").turn("1z")
    tile = int(scene.record["last_tile"])
    win = Win(0, 1, tile, (), 40, 2000, 0, ((1, 1),), (), (), -1, (3000, -2000, 0, 0), 0, 1)
    scene.apply(win)
    assert list(scene.record["scores"]) == [28000, 23000, 25000, 25000]
    assert scene.record["riichi_sticks"] == 0
    assert scene.record["phase"] == PHASE_ENDED
    # a second ron on the same tile settles too
    second = Win(2, 1, tile, (), 30, 1000, 0, ((1, 1),), (), (), -1, (0, -1000, 1000, 0), 0, 0)
    scene.apply(second)
    assert list(scene.record["scores"]) == [28000, 22000, 26000, 25000]


def _turn_scene() -> Scene:
    return Scene("123m456p789s1122z").draw("9p")


def _claim_scene() -> Scene:
    return Scene("123m456p789s1122z").own("9p", "9p").turn("4m")


@pytest.mark.parametrize(
    ("scene", "event", "why"),
    [
        (_turn_scene, Draw(0, 60), "moment"),
        (_turn_scene, Discard(1, 60, False), "not this player's move"),
        (_turn_scene, Discard(0, 136, False), "no such tile"),
        (_turn_scene, Discard(0, 132, False), "lies elsewhere"),
        (_turn_scene, Discard(0, 0, True), "just drawn"),
        (_turn_scene, Discard(0, 40000, False), "out of range"),
        (_turn_scene, Ankan(0, (0, 1, 2, 3)), "lies elsewhere"),
        (_turn_scene, Kakan(0, 0, (1, 2, 3)), "no such meld"),
        (_turn_scene, DoraRevealed(60), "no kan asks"),
        (_turn_scene, RiichiAccepted(0), "moment"),
        (_turn_scene, Win(0, 0, 60, (), 0, 0, 0, (), (), (), -1, (0, 0, 0, 0), 0, 0), "just drawn"),
        (_turn_scene, DrawnRound("exhaustive", (0, 0, 0, 0)), "moment"),
        (_turn_scene, StartRound(0, 0, 0, 0, (25000,) * 4, 0, (HIDDEN,) * 4), "moment"),
        (_claim_scene, Draw(3, -1), "not this player's move"),
        (_claim_scene, Draw(2, 7), "no such tile"),
        (_claim_scene, Chi(0, 1, 12, (4, 8)), "not this player's move"),
        (_claim_scene, Chi(2, 1, 13, (16, 20)), "not the one"),
        (_claim_scene, Chi(2, 1, 12, (20, 24)), "no such meld"),
        (_claim_scene, Pon(2, 1, 12, (13, 16)), "no such meld"),
        (_claim_scene, Pon(2, 1, 12, (13, 13)), "lies elsewhere"),
        (_claim_scene, Pon(1, 1, 12, (13, 14)), "not this player's move"),
        (_claim_scene, Riichi(1), "moment"),
        (_claim_scene, Discard(1, 60, False), "moment"),
        (_claim_scene, Win(0, 1, 16, (), 0, 0, 0, (), (), (), -1, (0, 0, 0, 0), 0, 0), "just drawn"),
        (_claim_scene, Win(0, 1, 12, (), 0, 0, 0, (), (), (), -1, (1000, 0, 0, 0), 0, 1), "add up"),
        (_claim_scene, DrawnRound("four_winds", (100, 0, 0, 0)), "add up"),
        (_claim_scene, DrawnRound("four_winds", (150, -150, 0, 0)), "multiple of 100"),
        (_claim_scene, Draw(7, -1), "no such player"),
    ],
)
def test_an_event_that_does_not_fit_is_refused_and_changes_nothing(scene, event: GameEvent, why: str) -> None:
    table = scene()
    before = clone(table.record)
    with pytest.raises(StateMismatchError, match=why):
        table.apply(event)
    assert same(before, table.record)


@pytest.mark.parametrize(
    "deal",
    [
        StartRound(12, 0, 0, 0, (25000,) * 4, 0, (HIDDEN,) * 4),
        StartRound(1, 0, 0, 0, (25000,) * 4, 0, (HIDDEN,) * 4),
        StartRound(0, 0, 0, 0, (25000,) * 4, 136, (HIDDEN,) * 4),
        StartRound(0, 0, 0, 0, (25000,) * 4, 12, (tuple(range(13)), HIDDEN, HIDDEN, HIDDEN)),
        StartRound(0, 0, 0, 0, (25000,) * 4, 100, (tuple(range(12)), HIDDEN, HIDDEN, HIDDEN)),
        StartRound(0, 0, 0, 0, (25000,) * 4, 100, ((*range(12), -1), HIDDEN, HIDDEN, HIDDEN)),
        StartRound(0, -1, 0, 0, (25000,) * 4, 100, (HIDDEN,) * 4),
    ],
)
def test_an_impossible_deal_is_refused(deal: StartRound) -> None:
    scene = Scene.__new__(Scene)
    scene.record, scene.events = new_round(), []
    with pytest.raises(StateMismatchError):
        scene.apply(deal)


def test_events_that_change_no_round_pass_through() -> None:
    scene = _claim_scene()
    before = clone(scene.record)
    for event in (StartGame(), EndRound(), PlayerLeft(2)):
        scene.apply(event)
        assert pack(event) is None
    assert same(scene.record, before)


def test_a_cut_stream_is_refused() -> None:
    stream = pack_all(_claim_scene().events)
    for cut in (stream[:-1], np.append(stream, np.int16(99)), np.append(stream, np.int16(-1))):
        with pytest.raises(StateMismatchError):
            fold_packed(new_round(), cut)


def test_a_hidden_player_cannot_show_a_tile_we_hold() -> None:
    scene = _turn_scene().discard("9p").draw()
    with pytest.raises(StateMismatchError, match="lies elsewhere"):
        scene.apply(Discard(1, scene.hand()[0], False))
    assert ActionKind.DISCARD not in scene.kinds()


@pytest.mark.parametrize("naming", range(4))
def test_a_closed_kan_remembers_the_copy_that_named_it(naming: int) -> None:
    scene = Scene("111m456p789s1122z").draw("1m")
    own = (naming, *(tile for tile in range(4) if tile != naming))
    scene.apply(Ankan(0, (own[0], own[3], own[1], own[2])))
    (kan,) = melds_of(scene.record, 0)
    assert kan.tiles == own
