"""Tenhou's JSON records, in both directions."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from game.events import (
    Chi,
    DoraRevealed,
    DrawnRound,
    DrawReason,
    EndGame,
    EndRound,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    RiichiAccepted,
    StartGame,
    Win,
)
from game.melds import Meld, MeldKind
from game.tiles import face_of
from kit.errors import ReplayError, ReplayFormatError, ReplayTooLarge
from replays import tenhou6
from replays.mjlog.reader import read_record as read_mjlog
from replays.names import DRAW_NAMES, YAKU_NAMES, yaku_id
from replays.record import GameRecord
from replays.tenhou6.tokens import (
    Call,
    Faces,
    Gap,
    OwnKan,
    Take,
    WrittenDiscard,
    meld_text,
    parse_discard,
    parse_draw,
    parse_value,
    parse_yaku,
    value_text,
    yaku_text,
)
from tests.bot.captures import capture
from tests.replays.games import GAME_ID, seen_from, whole_game
from tests.scale import scaled
from tests.scene import Scene
from tests.shared import shard_texts

CAPTURES = (
    "tenhou6-chankan-one-hand.json",
    "tenhou6-double-ron.json",
    "tenhou6-kyushukyuhai.json",
    "tenhou6-ranked-20190504.json",
)
SHARDS = ("houou-00", "houou-01", "houou-02", "other-00", "strongbot-00")


def log_of(text: str) -> list[Any]:
    log: list[Any] = json.loads(text)["log"]
    return log


def of_type(record: GameRecord, kind: type) -> list[Any]:
    return [event for event in record.events if isinstance(event, kind)]


# --- recorded -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CAPTURES)
def test_a_recorded_log_is_written_back_as_it_was(name: str) -> None:
    text = capture(name).read_text(encoding="utf-8")
    assert log_of(tenhou6.write(tenhou6.read_record(text))) == log_of(text)


def test_the_head_of_a_downloaded_record_is_kept() -> None:
    text = capture("tenhou6-ranked-20190504.json").read_text(encoding="utf-8")
    record = tenhou6.read_record(text)
    assert (record.game_id, record.game_type) == ("2019050417gm-0029-0000-4f2a8622", 41)
    assert record.ranks == (13, 13, 18, 13)
    assert record.events[-1] == EndGame((21100, 55000, -4900, 28800), (-190, 650, -550, 90))
    stored, again = json.loads(text), json.loads(tenhou6.write(record))
    assert all(again[key] == stored[key] for key in stored if key != "rule")
    assert again["rule"]["disp"] == "特南喰赤"


def test_a_robbed_kan_pays_no_indicator_and_the_robber_wins_on_the_added_tile() -> None:
    record = tenhou6.read_record(capture("tenhou6-chankan-one-hand.json").read_text())
    *_, kan, win, end = record.events
    assert isinstance(kan, Kakan)
    assert isinstance(win, Win)
    assert (win.tile, win.player, win.from_player) == (kan.tile, 2, 3)
    assert end == EndRound()
    assert not of_type(record, DoraRevealed)


def test_of_a_double_ron_the_first_takes_the_stick_and_only_riichi_shows_ura() -> None:
    record = tenhou6.read_record(capture("tenhou6-double-ron.json").read_text())
    first, second = of_type(record, Win)
    assert (first.riichi_sticks, second.riichi_sticks) == (1, 0)
    assert (len(first.ura_indicators), second.ura_indicators) == (1, ())
    assert (first.fu, first.yaku[-1], second.fu) == (40, (53, 0), 30)
    assert len(of_type(record, RiichiAccepted)) == 1


# --- real games through the format -------------------------------------------------------------------


def _comparable(record: GameRecord) -> list[object]:
    """The parts of a game that the format stores: faces, and hands as sets of them."""
    has_reds = not record.game_type & 2

    def face(tile: int) -> int:
        return face_of(tile) if has_reds else tile >> 2

    kept: list[object] = []
    for event in record.events:
        if isinstance(event, PlayerLeft | PlayerReturned):
            continue
        fields = msgspec.structs.asdict(event)
        for name, value in fields.items():
            if name in ("tile", "indicator", "dora_indicator"):
                fields[name] = face(value)
            elif name in ("consumed", "hand", "ura_indicators"):
                fields[name] = sorted(map(face, value))
            elif name == "hands":
                fields[name] = [hand and sorted(map(face, hand)) for hand in value]
        kept.append((type(event).__name__, fields))
    return kept


def _check_game(game_id: str, text: str) -> None:
    record = read_mjlog(text, game_id)
    written = tenhou6.write(record)
    again = tenhou6.read_record(written)
    assert _comparable(again) == _comparable(record), game_id
    assert tenhou6.write(again) == written
    named = again if again.game_id else msgspec.structs.replace(again, game_id=game_id)
    assert msgspec.structs.replace(named, events=(), game_type=0) == msgspec.structs.replace(
        record, events=(), dice=(), shuffle="", round_shuffles=(), game_type=0
    )


@pytest.mark.parametrize("shard", SHARDS)
def test_real_games_keep_all_but_the_copies(shard: str) -> None:
    for game_id, text in shard_texts(shard, scaled(3, 220)):
        _check_game(game_id, text)


def test_a_game_of_our_own_survives_with_its_link() -> None:
    game = whole_game()
    again = tenhou6.read_record(tenhou6.link(game))
    assert again.game_id == GAME_ID
    assert _comparable(again) == _comparable(game)
    assert tenhou6.read_record(tenhou6.link(game) + "&ts=3&tw=1") == again
    assert tenhou6.is_link(tenhou6.link(game))


def test_a_hidden_hand_cannot_be_written() -> None:
    with pytest.raises(ReplayFormatError, match="shows all hands"):
        tenhou6.write(seen_from(whole_game(), 1))


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
    assert _comparable(again) == _comparable(record_of(scene))


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
    ],
)
def test_draws_and_calls(token: int | str, meaning: object) -> None:
    assert parse_draw(token) == meaning


@pytest.mark.parametrize(
    ("token", "meaning"),
    [
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
def test_discards_and_kans(token: int | str, meaning: object) -> None:
    assert parse_discard(token) == meaning


@pytest.mark.parametrize(
    "token", ["", "p47", "p4747474", "47", "c27c526", "27c5226", "x272727", "r5", "r605", "k474747", "p" * 99]
)
def test_an_invalid_call_is_refused(token: str) -> None:
    for parse in (parse_draw, parse_discard):
        with pytest.raises(ValueError, match=r"call|tiles|player|replaces"):
            parse(token)


@pytest.mark.parametrize(
    ("meld", "text"),
    [
        (Meld(MeldKind.CHI, (16, 20, 24), 24, 3), "c175116"),
        (Meld(MeldKind.PON, (16, 17, 18), 17, 2), "15p1551"),
        (Meld(MeldKind.KAKAN, (16, 17, 18, 19), 17, 1, added=16), "1515k5115"),
        (Meld(MeldKind.DAIMINKAN, (0, 1, 2, 3), 2, 1), "111111m11"),
        (Meld(MeldKind.ANKAN, (16, 17, 18, 19)), "151515a51"),
    ],
)
def test_melds_are_written_with_the_letter_before_the_tile_it_is_about(meld: Meld, text: str) -> None:
    assert meld_text(meld, Faces()) == text
    parse = parse_discard if meld.kind in (MeldKind.ANKAN, MeldKind.KAKAN) else parse_draw
    again = parse(text)
    assert isinstance(again, Call | OwnKan)
    assert again.kind is meld.kind


def test_without_red_fives_copy_0_is_a_five_like_the_others() -> None:
    faces = Faces((False, True, True))
    assert (faces.number(16), faces.number(52)) == (15, 52)
    assert faces.copies[15] == (16, 17, 18, 19)
    assert faces.copies[25] == (53, 54, 55)


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


@pytest.mark.parametrize("text", ["", "点", "8000", "満貫点", "宇宙8000点", "30符8000点", "満貫9999999点"])
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
    with pytest.raises(ValueError, match="unknown yaku"):
        parse_yaku("抜きドラ(1飜)")


@pytest.mark.parametrize(
    ("disp", "game_type"),
    [("鳳南喰赤", 169), ("上東喰赤速", 193), ("般南喰", 11), ("特東赤", 37), ("大会南喰赤", 9), ("", 9)],
)
def test_the_type_follows_from_the_rules_in_words(disp: str, game_type: int) -> None:
    document = json.loads(capture("tenhou6-kyushukyuhai.json").read_text()) | {"rule": {"disp": disp}}
    text = json.dumps(document)
    if "赤" not in disp:
        text = text.replace("51", "15")
    assert tenhou6.read_record(text).game_type == game_type


# --- hostile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"log": []}, "no round"),
        ({"log": 3}, r"\$\.log"),
        ({"log": [[]]}, "round 1"),
        ({"log": [[[0, 0, 0]]]}, "round 1"),
        ({"name": ["a"] * 5}, "5 players"),
        ({"name": ["a", "b", "c"]}, "three-player"),
        ({"rule": {"disp": "三鳳南喰赤"}}, "three-player"),
        ({"sc": [1, 2]}, "sc is not a list"),
        ({"sc": [1e300] * 8}, "sc is not a list"),
        ({"rate": [1e300] * 4}, "rating"),
        ({"lobby": -1}, "lobby"),
    ],
)
def test_a_head_out_of_form_is_refused(change: dict[str, object], message: str) -> None:
    document = json.loads(capture("tenhou6-kyushukyuhai.json").read_text()) | change
    with pytest.raises(ReplayFormatError, match=message):
        tenhou6.read_record(json.dumps(document))


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, [99, 0, 0], "out of range"),
        (0, [0, -1, 0], "out of range"),
        (1, [25050, 25000, 25000, 25000], "the deal"),
        (1, [10**30] * 4, "round 1"),
        (2, [], "0 dora"),
        (2, [11] * 6, "6 dora"),
        (2, [99], "no tile 99"),
        (4, [11] * 14, "hands of"),
        (4, [41] * 13, "no tile 41"),
        (5, ["x"], "entry 1"),
        (5, [11] * 41, "more than 40"),
        (6, [60, 60], "discards of player 0"),
        (16, [], "unknown name"),
        (16, [[[]]], "unknown name"),
        (16, ["乱入"], "unknown name"),
        (16, ["和了"], "details"),
        (16, ["和了", [0, 0, 0, 0], [9, 0, 0, "満貫8000点"]], "not a player"),
        (16, ["流局", [1.5, 0, 0, 0]], "four numbers"),
        (16, ["流局", [100, 0, 0, 0]], "fit"),
    ],
)
def test_a_round_out_of_form_is_refused(at: int, value: object, message: str) -> None:
    document = json.loads(capture("tenhou6-kyushukyuhai.json").read_text())
    document["log"][0][at] = value
    with pytest.raises(ReplayFormatError, match=message) as caught:
        tenhou6.read_record(json.dumps(document))
    assert "round 1" in str(caught.value)


def test_endless_records_are_refused() -> None:
    document = json.loads(capture("tenhou6-kyushukyuhai.json").read_text())
    with pytest.raises(ReplayTooLarge):
        tenhou6.read_record(json.dumps(document | {"log": document["log"] * 101}))
    with pytest.raises(ReplayTooLarge):
        tenhou6.read_record(json.dumps(document | {"title": ["x" * 2_000_000, ""]}))
    for text in ("[" * 100_000, '{"log":' * 50_000, '{"log":[' + "[" * 100_000):
        with pytest.raises(ReplayError):
            tenhou6.read_record(text)


def test_a_win_with_an_incomplete_hand_is_kept_as_stated() -> None:
    document = json.loads(capture("tenhou6-kyushukyuhai.json").read_text())
    document["log"][0][16] = ["和了", [0, 0, 0, 0], [0, 0, 0, "満貫8000点"]]
    [win] = [event for event in tenhou6.read_record(json.dumps(document)).events if isinstance(event, Win)]
    assert (win.player, win.from_player, win.points) == (0, 0, 8000)
