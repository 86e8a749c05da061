"""Tenhou's JSON records: the order of play behind the lists, and the words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from game.events import Chi, DrawnRound, DrawReason, EndRound, Pon, Riichi, RiichiAccepted, StartGame
from game.melds import MeldKind
from kit.errors import ReplayFormatError
from replays import tenhou6
from replays.names import DRAW_NAMES, YAKU_NAMES, reason_of, yaku_id
from replays.record import GameRecord
from replays.tenhou6.tokens import (
    Call,
    Gap,
    OwnKan,
    Take,
    WrittenDiscard,
    parse_discard,
    parse_draw,
    parse_value,
    parse_yaku,
    value_text,
    yaku_text,
)
from tests.bot.captures import capture
from tests.replays.test_files import comparable
from tests.scene import Scene


def of_type(record: GameRecord, kind: type) -> list[Any]:
    return [event for event in record.events if isinstance(event, kind)]


# --- the order of play -------------------------------------------------------------------------------


def record_of(
    scene: Scene, *, result: str = "four_winds", deltas: tuple[int, ...] = (0, 0, 0, 0)
) -> GameRecord:
    a, b, c, d = deltas
    end = DrawnRound(result, (a, b, c, d))  # type: ignore[arg-type]
    events = (StartGame(), *scene.events, end, EndRound())
    return GameRecord(game_id="", game_type=9, names=("", "", "", ""), events=events)


HANDS = {1: "123456789p4567s", 2: "11z22s345678p123s", 3: "333444z789s7m888m"}


def test_a_call_of_the_second_of_two_equal_discards_is_not_taken_for_the_first() -> None:
    # Player 0 discards East twice before player 2 draws: player 0's own pon comes in between.
    scene = Scene("11z22z123m456m789m", others=HANDS | {1: "2z12345679p456s6p"})
    scene.own("5z", "1z").own("6z", "2z").pon(0).discard("1z").pon(2).discard("1s").own("7z", "7z")
    again = tenhou6.read_record(tenhou6.write(record_of(scene)))
    assert comparable(again) == comparable(record_of(scene))


def test_of_two_callers_the_pon_comes_before_the_chi() -> None:
    hands = {1: "46m123456789p11s", 2: "55m3456789p2345s", 3: "333444z789s7m888m"}
    scene = Scene("5m1234z12346789s", others=hands).own("5z", "5m").pon(2).discard("2s")
    assert of_type(tenhou6.read_record(tenhou6.write(record_of(scene))), Pon)
    chi = Scene("5m1234z12346789s", others=hands).own("5z", "5m").chi("4m", "6m", player=1).discard("1s")
    (event,) = of_type(tenhou6.read_record(tenhou6.write(record_of(chi))), Chi)
    assert (event.player, event.from_player) == (1, 0)


@pytest.mark.parametrize("reason", sorted(set(DRAW_NAMES) - {"unknown"}))
def test_a_riichi_is_paid_before_a_round_ends_without_a_win_unless_three_won(reason: DrawReason) -> None:
    scene = Scene("123456789m1122z", others=HANDS)
    scene.draw("9s")
    scene.apply(Riichi(0)).discard("9s")
    text = tenhou6.write(record_of(scene))
    for name in DRAW_NAMES[reason]:
        if reason in ("exhaustive", "nagashi_mangan", "nine_terminals"):
            continue  # these do not end a round here
        document = json.loads(text)
        document["log"][0][-1] = [name]
        again = tenhou6.read_record(json.dumps(document))
        assert len(of_type(again, RiichiAccepted)) == (reason != "triple_ron"), name
        (drawn,) = of_type(again, DrawnRound)
        assert drawn.reason == reason


def test_lists_that_fit_no_order_name_round_and_place() -> None:
    document = json.loads(capture("tenhou6-ranked-20190504.json").read_text())
    document["log"][1][5][4] = 47  # player 0 draws it instead of the 45 that is then discarded
    with pytest.raises(ReplayFormatError, match=r"round 2 \(E2, honba 0\): discards of player 0 entry 6"):
        tenhou6.read_record(json.dumps(document))


def test_an_endless_search_is_given_up() -> None:
    # Every discard could be called by two players who never call: the search must not try all combinations.
    document = json.loads(capture("tenhou6-ranked-20190504.json").read_text())
    for at in (5, 8, 11, 14):
        document["log"][0][at] = [21, *["p111111"] * 30]
        document["log"][0][at + 1] = [11] * 30
    with pytest.raises(ReplayFormatError):
        tenhou6.read_record(json.dumps(document))


# --- words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "meaning"),
    [
        (35, Take(35)),
        ("c275226", Call(MeldKind.CHI, 3, 27, (52, 26))),
        ("p474747", Call(MeldKind.PON, 3, 47, (47, 47))),
        ("12p1212", Call(MeldKind.PON, 2, 12, (12, 12))),
        ("3737p37", Call(MeldKind.PON, 1, 37, (37, 37))),
        ("m11111111", Call(MeldKind.DAIMINKAN, 3, 11, (11, 11, 11))),
        ("11m111111", Call(MeldKind.DAIMINKAN, 2, 11, (11, 11, 11))),
        ("111111m11", Call(MeldKind.DAIMINKAN, 1, 11, (11, 11, 11))),
        (60, WrittenDiscard(60)),
        (51, WrittenDiscard(51)),
        ("r35", WrittenDiscard(35, riichi=True)),
        ("r60", WrittenDiscard(60, riichi=True)),
        (0, Gap()),
        ("424242a42", OwnKan(MeldKind.ANKAN, 42, (42, 42, 42))),
        ("k37373737", OwnKan(MeldKind.KAKAN, 37, (37, 37, 37))),
        ("15k511515", OwnKan(MeldKind.KAKAN, 51, (15, 15, 15))),
        ("3636k3636", OwnKan(MeldKind.KAKAN, 36, (36, 36, 36))),
    ],
)
def test_an_entry_of_a_list_is_read(
    token: int | str, meaning: Take | Call | WrittenDiscard | OwnKan | Gap
) -> None:
    parse = parse_draw if isinstance(meaning, Take | Call) else parse_discard
    assert parse(token) == meaning


@pytest.mark.parametrize(
    ("text", "fu", "points", "limit"),
    [
        ("30符4飜7700点", 30, 7700, 0),
        ("30符4翻7700点", 30, 7700, 0),
        ("20符2飜400-700点", 20, 1500, 0),
        ("30符4飜3900点∀", 30, 11700, 0),
        ("満貫8000点", -1, 8000, 1),
        ("跳満3000-6000点", -1, 12000, 2),
        ("倍満8000点∀", -1, 24000, 3),
        ("三倍満24000点", -1, 24000, 4),
        ("役満16000点∀", -1, 48000, 5),
        ("数え役満32000点", -1, 32000, 5),
        ("40符5飜満貫8000点", 40, 8000, 1),
        ("切り上げ満貫8000点", -1, 8000, 1),
        ("宇宙8000点", -1, 8000, -1),
        ("8000", -1, 8000, -1),
        ("満貫", -1, 0, 1),
        ("30符4飜", 30, 0, 0),
        ("5飜満貫8000点", -1, 8000, 1),
        ("", -1, 0, -1),
    ],
)
def test_points_in_words(text: str, fu: int, points: int, limit: int) -> None:
    value = parse_value(text)
    assert (value.fu, value.points, value.limit) == (fu, points, limit)


@pytest.mark.parametrize("base", [240, 320, 400, 480, 640, 800, 960, 1280, 1600, 1920, 2000, 3000, 8000])
def test_both_payments_of_a_tsumo_follow_from_their_sum(base: int) -> None:
    other, dealer = -(-base // 100) * 100, -(-2 * base // 100) * 100
    text = value_text(0, 0, 2 * other + dealer, 1, is_tsumo=True, is_dealer=False, counted=False)
    assert text == f"満貫{other}-{dealer}点"


@pytest.mark.parametrize("text", ["8000-", "30符8000点", "満貫9999999点"])
def test_an_invalid_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="points"):
        parse_value(text)


def test_every_yaku_has_one_name_both_ways() -> None:
    assert len(set(YAKU_NAMES)) == len(YAKU_NAMES) == 55
    assert [yaku_id(name) for name in YAKU_NAMES] == list(range(55))
    for number in range(55):
        assert parse_yaku(yaku_text(number, 3)) == (number, 3)
        assert parse_yaku(yaku_text(number, 0)) == (number, 0)
    assert parse_yaku("役牌:發(1飜)") == (19, 1)
    assert parse_yaku("Riichi") == (1, -1)
    assert [yaku_id(name) for name in ("抢杠", "搶槓", "Robbing a Quad", "九連宝燈")] == [3, 3, 3, 45]
    assert reason_of("全员听牌") == "exhaustive"
    assert yaku_id("ura-dora") == 53
