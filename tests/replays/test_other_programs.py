"""Records as other programs write them: Mahjong Soul's converters, mjai programs, editors, 電脳麻将."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from game.events import Discard, DrawnRound, EndGame, GameEvent, StartRound, Win
from game.scoring.value import context_of, evaluate
from game.state import apply, clone, new_round
from kit.errors import ReplayFormatError
from replays.formats import detect, parse, read_game, write_game
from replays.names import yaku_id
from replays.record import GameRecord
from tests.replays.games import DEAL, HEADER, OWARI, text_of

RECORDS = Path(__file__).parent / "records"
HANDS = (
    [11, 12, 13, 17, 18, 22, 25, 28, 31, 35, 41, 42, 44],
    [12, 13, 14, 23, 24, 25, 33, 34, 35, 36, 37, 28, 28],
    [11, 15, 19, 21, 26, 29, 32, 36, 39, 43, 45, 46, 47],
    [11, 15, 16, 19, 21, 26, 29, 32, 39, 43, 45, 46, 47],
)
DRAWS: tuple[list[Any], ...] = ([44, 38], [44], [42], [42])
DISCARDS: tuple[list[Any], ...] = ([41, 60], ["r60"], [60], [60])
RULE = {"disp": "般南喰赤", "aka": 1}
VALUE = ["満貫8000点", "両立直(2飜)", "一発(1飜)", "平和(1飜)", "ドラ(2飜)"]
DELTAS = [-8000, 9000, 0, 0]


def document(**changes: Any) -> dict[str, Any]:
    """A game of one round in Tenhou's JSON: player 1 wins on player 0's 8s with riichi."""
    lists = [part for player in range(4) for part in (HANDS[player], DRAWS[player], DISCARDS[player])]
    result = ["和了", DELTAS, [1, 0, 1, *changes.pop("value", VALUE)]]
    row = [[0, 0, 0], [25000] * 4, [27], [31], *lists, changes.pop("result", result)]
    return {"title": ["", ""], "name": list("ABCD"), "rule": RULE, "log": [row]} | changes


def read(**changes: Any) -> GameRecord:
    return read_game(json.dumps(document(**changes)))


def mjai(*ends: dict[str, Any], hidden: bool = False) -> str:
    """The same round in mjai, as Mortal writes it, with another end."""
    messages = [
        json.loads(line)
        for line in write_game(read(), "mjai").splitlines()
        if not any(kind in line for kind in ('"hora"', '"end_kyoku"', '"end_game"'))
    ]
    for place, message in enumerate(messages):
        message.pop("tiles136", None)
        message.pop("suzaku_record", None)
        if hidden:
            messages[place] |= {"start_kyoku": {"tehais": [["?"] * 13] * 4}, "tsumo": {"pai": "?"}}.get(
                message["type"], {}
            )
    end = {"type": "end_kyoku"}
    return "\n".join(json.dumps(message) for message in (*messages, *ends, end))


HORA = {"type": "hora", "actor": 1, "target": 0, "ura_markers": ["1s"]}


def won(record: GameRecord) -> Win:
    (win,) = (event for event in record.events if isinstance(event, Win))
    return win


# --- names and rules --------------------------------------------------------------------------------------

ROMAJI = ["Haneman 12000点", "Double Riichi(2飜)", "Ippatsu(1飜)", "Pinfu(1飜)", "Dora(2飜)", "Ura Dora(0飜)"]
ENGLISH = ["Haneman 12000Points", "Double Riichi(2Han)", "Ippatsu(1Han)", "Pinfu(1Han)", "Dora(2Han)"]


@pytest.mark.parametrize("value", [ROMAJI, ENGLISH, ["30Fu3Han3900Points", "Seat Wind(1Han)", "Chanta(2飜)"]])
def test_names_in_romaji_and_english_are_read(value: list[str]) -> None:
    win = won(read(value=value, result=["Agari", DELTAS, [1, 0, 1, *value]]))
    expected = {21: 2, 2: 1, 7: 1, 52: 2, 53: 0} if "Double" in value[1] else {11: 1, 23: 2}
    assert dict(win.yaku) == expected  # player 1 sits in the South
    assert win.value == "stated"


@pytest.mark.parametrize(
    ("words", "game_type"),
    [("Gold Room South Red", 9), ("Jade Room East Red", 1), ("玉の間 東 赤", 1), ("Friendly South", 9)],
)
def test_rooms_in_other_words_tell_the_length(words: str, game_type: int) -> None:
    record = read(rule={"disp": words, "aka51": 1, "aka52": 1, "aka53": 1})
    assert (record.game_type, record.rules_said) == (game_type, False)


@pytest.mark.parametrize("words", ["Gold Room 3-Player South", "三人南喰赤", "Sanma East"])
def test_three_players_are_refused_in_any_language(words: str) -> None:
    with pytest.raises(ReplayFormatError, match="three-player games are not supported"):
        read(rule={"disp": words})


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": {"disp": "般南喰赤祝5", "aka": 1}},
        {"value": ["満貫8000点2枚", *VALUE[1:]]},
        {"value": ["満貫8000点", "立直(1飜2枚)"]},
    ],
)
def test_chips_are_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(ReplayFormatError, match="chip games are not supported"):
        read(**changes)


def test_a_tournaments_rule_is_a_list() -> None:
    record = read(rule=["202308022100", "202309302300", "000b"])
    assert (record.game_type, record.rules_said) == (9, False)


def test_no_red_five_among_four_means_no_red_fives() -> None:
    changed = document(rule={"disp": "my club"})
    changed["log"][0][4] = [15, 15, *HANDS[0][2:]]
    assert read_game(json.dumps(changed)).game_type & 2
    changed["rule"] = RULE
    with pytest.raises(ReplayFormatError, match="one of the four is written 51"):
        read_game(json.dumps(changed))


def test_a_drawn_tile_named_by_its_face_is_a_tsumogiri() -> None:
    changed = document()
    changed["log"][0][12] = [42]  # player 3 draws a South and discards it
    changed["log"][0][6] = [41, 38]
    written = read_game(json.dumps(changed)).events
    assert [e for e in written if isinstance(e, Discard)] == [
        e for e in read().events if isinstance(e, Discard)
    ]


def test_several_links_are_the_rounds_of_a_game() -> None:
    link = write_game(read(), "link").strip()
    record = read_game(f"{link}\n{link}\n")
    assert record.rounds == 2
    with pytest.raises(ReplayFormatError, match="text 2 has other players"):
        read_game(f"{json.dumps(document())}\n{json.dumps(document(name=list('ABCE')))}")


# --- what a record does not say ---------------------------------------------------------------------------


def test_a_value_that_is_not_stated_is_computed_and_marked_in_every_format() -> None:
    record = read_game(mjai({**HORA, "deltas": [-12000, 13000, 0, 0]}))
    win = won(record)
    assert (win.fu, win.points, win.limit, win.value) == (30, 12000, 2, "computed")
    assert dict(win.yaku) == {21: 2, 2: 1, 7: 1, 8: 1, 52: 2, 53: 0}
    for form in ("tenhou6", "mjai"):
        again = won(parse(write_game(record, form).encode()))
        assert (again.fu, again.points, again.yaku, again.value) == (30, 12000, win.yaku, "computed"), form


def test_points_under_other_rules_are_those_that_were_paid() -> None:
    win = won(read_game(mjai({**HORA, "deltas": DELTAS})))
    assert (win.fu, win.points, win.limit, win.value) == (30, 8000, 2, "computed")


@pytest.mark.parametrize("hidden", [False, True])
def test_a_value_that_cannot_be_known_is_left_out(*, hidden: bool) -> None:
    # either ura dora that nobody wrote down, or a hidden hand
    end = {**HORA, "deltas": [-16000, 17000, 0, 0], "ura_markers": [], "pai": "8s"}
    record = read_game(mjai(end, hidden=hidden))
    win = won(record)
    assert (win.fu, win.points, win.yaku, win.value) == (0, 16000, (), "unknown")
    if not hidden:
        text = write_game(record, "tenhou6")
        assert '"16000点"]' in text
        assert won(parse(text.encode())).value == "unknown"


def test_scores_instead_of_changes() -> None:
    win = won(read_game(mjai({**HORA, "scores": [13000, 37000, 25000, 25000]})))
    assert win.deltas == (-12000, 13000, 0, 0)


def test_scores_and_names_that_are_missing() -> None:
    lines = mjai().splitlines()
    messages = [json.loads(line) for line in lines]
    messages[0]["names"] = []
    del messages[1]["scores"]
    second = [dict(messages[1]) | {"kyoku": 2, "oya": 1}]
    hora = {**HORA, "deltas": [-12000, 13000, 0, 0]}
    text = "\n".join(map(json.dumps, [{"type": "hello"}, *messages[:-1], hora, messages[-1], *second]))
    record = read_game(text)
    assert record.names == ("", "", "", "")
    first, following = (event for event in record.events if isinstance(event, StartRound))
    assert first.scores == (25000,) * 4
    assert following.scores == (13000, 37000, 25000, 25000)


@pytest.mark.parametrize("indent", [None, 1])
def test_messages_in_arrays(indent: int | None) -> None:
    messages = [json.loads(line) for line in mjai().splitlines()]
    text = json.dumps(messages, indent=indent)
    assert read_game(text).events == read_game(mjai()).events
    lines = json.dumps(messages[:3]) + "\n" + json.dumps(messages[3:])
    assert read_game(lines).events == read_game(mjai()).events


def test_an_mjlog_with_comments_notes_and_no_go() -> None:
    drawn = f'<RYUUKYOKU type="yao9" ba="0,0" sc="250,0,250,0,250,0,250,0"{OWARI}/>'
    plain = text_of(DEAL + drawn)
    noted = "My game:\n<!-- from <somewhere> -->" + plain.replace("<INIT", " first round <INIT")
    assert detect(noted) == "mjlog"
    assert parse(noted.encode()).events == parse(plain.encode()).events
    without = parse(text_of(DEAL + drawn, HEADER[HEADER.index("<UN") :]).encode())
    assert (without.game_type, without.rules_said) == (1, False)
    later = parse(plain.replace('type="169"', f'type="{169 + 4096}"').encode())
    assert later.game_type == 169


# --- other formats ----------------------------------------------------------------------------------------


def folded(events: tuple[GameEvent, ...]) -> list[tuple[Any, Win]]:
    """Each win with the round before the first one on its tile."""
    state, before, wins = new_round(), None, []
    for event in events:
        if isinstance(event, Win):
            before = before if before is not None else clone(state)
            wins.append((before, event))
        elif isinstance(event, StartRound):
            before = None
        apply(state, event)
    return wins


def test_a_game_of_majiang_core_is_read_whole() -> None:
    record = read_game(RECORDS / "kobalab-tonpuu.json")
    source = json.loads((RECORDS / "kobalab-tonpuu.json").read_text())
    assert record.rounds == len(source["log"])
    end = record.events[-1]
    assert isinstance(end, EndGame)
    assert sorted(end.scores) == sorted(source["defen"])
    assert record.names[0] == source["player"][source["qijia"]]
    wins = folded(record.events)
    assert wins
    for before, win in wins:  # its rules and ours agree about every win
        value = evaluate(context_of(before, win.player, win.tile, win.from_player, win.ura_indicators))
        assert value is not None
        assert (win.fu, win.points, win.limit) == (value.fu, value.points, value.limit)
        assert dict(win.yaku) == dict(value.yaku)
    assert parse(write_game(record, "mjlog").encode()).rounds == record.rounds


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda game: game["log"][0][0]["qipai"].update(shoupai=["m123"] * 4), "round 1, move 1"),
        (lambda game: game["log"][1][2]["dapai"].update(p="z8"), "round 2, move"),
        (lambda game: game.update(player=["a", "b", "c"]), "only four are supported"),
        (lambda game: game["log"][0].append({"tsumo": {}}), "an unknown move"),
    ],
)
def test_a_broken_game_of_majiang_core_names_the_move(change: Any, reason: str) -> None:
    game = json.loads((RECORDS / "kobalab-tonpuu.json").read_text())
    change(game)
    with pytest.raises(ReplayFormatError, match=reason):
        read_game(json.dumps(game))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04rest", "a zip archive; unpack it"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b'{"publicObservation": {}, "hiddenState": {}}', "mjx"),
        (b'{"head": {"uuid": "x"}, "data": ""}', "Mahjong Soul's own record"),
        (b"\n\x1b.lq.GameDetailRecords\x12\xff", "Mahjong Soul's own record"),
    ],
)
def test_files_of_other_programs_are_named(data: bytes, message: str) -> None:
    with pytest.raises(ReplayFormatError, match=message):
        parse(data)


def test_draws_are_told_by_what_the_table_allows() -> None:
    record = read(result=["途中流局"])
    (drawn,) = (event for event in record.events if isinstance(event, DrawnRound))
    assert drawn.reason == "unknown"  # the hands are known, and nothing ends the round here
    (again,) = (e for e in parse(write_game(record, "tenhou6").encode()).events if isinstance(e, DrawnRound))
    assert again == drawn


def test_every_name_means_one_yaku() -> None:
    assert yaku_id("Kita") is None
    assert yaku_id("ura-dora") == yaku_id("裏ドラ") == 53


# --- texts that are no tiles -------------------------------------------------------------------------------

BAD_FACES = ("0m", "0z", "8z", "10m", "m1", "5zr", "4mr", "EE", "", "?", None)
BAD_PLACES = (("bakaze", ""), ("bakaze", "ES"), ("kyoku", 5), ("kyoku", 1.5), ("honba", True), ("oya", 4))


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("key", "bad"), [*(("pai", face) for face in BAD_FACES), ("pai", "9p"), *BAD_PLACES])
def test_mjai_refuses_what_is_no_tile_and_no_round_and_says_where(key: str, bad: Any) -> None:
    messages = lines_of(mjai())
    if key == "pai":
        places = [at for at, each in enumerate(messages) if each["type"] == "dahai"]
        assert {messages[at]["tsumogiri"] for at in places} == {True, False}
    else:
        places = [1]
    for place in places:
        changed = [*messages[:place], messages[place] | {key: bad}, *messages[place + 1 :]]
        with pytest.raises(ReplayFormatError, match=f"mjai line {place + 1}: {messages[place]['type']}"):
            read_game("\n".join(map(json.dumps, changed)))


@pytest.mark.parametrize("bad", ["8s", "EE", "", "z0"])
@pytest.mark.parametrize("kind", ["pon", "hora"])
def test_the_tile_that_a_call_or_a_win_names_is_the_one_discarded(kind: str, bad: str) -> None:
    discarded = lines_of(mjai())
    while discarded[-1]["type"] != "dahai" or discarded[-1]["pai"] == "8s":
        discarded.pop()
    named = {"type": kind, "actor": 1, "target": discarded[-1]["actor"], "pai": bad}
    lines = [*discarded, named | {"consumed": ["1s", "1s"], "deltas": [0, 0, 0, 0]}]
    with pytest.raises(ReplayFormatError, match=f"{kind}: it says '{bad}', but the tile is"):
        read_game("\n".join(map(json.dumps, lines)))


@pytest.mark.parametrize(
    ("move", "key", "bads"),
    [
        ("qipai", "baopai", ("z0", "z8", "m10", "x1", "", "m5m5")),
        ("qipai", "jushu", (-1, 4)),
        ("qipai", "zhuangfeng", (-1, 4)),
        ("zimo", "p", ("z0", "z9", "m10", "", "_")),
        ("gangzimo", "p", ("z0", "m10")),
        ("dapai", "p", ("z0", "z8_", "m10*", "", "_")),
        ("fulou", "m", ("z000-", "z888-", "m12-9", "z123-", "")),
        ("kaigang", "baopai", ("z0", "m10")),
        ("hule", "shoupai", ("z0", "m123z8", "x", "")),
        ("hule", "fubaopai", (["z0"], ["m10"])),
    ],
)
def test_kobalab_refuses_what_is_no_tile_and_says_where(move: str, key: str, bads: tuple[Any, ...]) -> None:
    text = (RECORDS / "kobalab-tonpuu.json").read_text()
    for bad in bads:
        game = json.loads(text)
        round_, place, details = next(
            (round_, place, each[move])
            for round_, moves in enumerate(game["log"], 1)
            for place, each in enumerate(moves, 1)
            if each.get(move, {}).get(key) is not None
        )
        details[key] = bad
        # a dealer or a wind that is none is found before the first move
        where = "" if key == "jushu" else f"round {round_}, move {place}: "
        with pytest.raises(ReplayFormatError, match=f"majiang-core's record, {where}|^not a wind or place"):
            read_game(json.dumps(game))


@pytest.mark.parametrize("bad", [0, 10, 20, 40, 48, 50, 54, 61, 99, -1, "c111213", "1m"])
def test_tenhous_json_refuses_what_is_no_tile_and_says_where(bad: Any) -> None:
    game = document()
    game["log"][0][5] = [bad, 38]
    with pytest.raises(ReplayFormatError, match=r"round 1.*(draws of player 0 entry 1|\$\[5\]\[0\])"):
        read_game(json.dumps(game))


# --- other shapes of JSON ----------------------------------------------------------------------------------


def test_an_array_of_documents_holds_the_rounds_of_one_game() -> None:
    game = document()
    assert read_game(json.dumps([game, game])).events == read(log=2 * game["log"]).events
    with pytest.raises(ReplayFormatError, match="has other players; save each game as a file"):
        read_game(json.dumps([game, game | {"name": list("EFGH")}]))
    kobalab = json.loads((RECORDS / "kobalab-tonpuu.json").read_text())
    with pytest.raises(ReplayFormatError, match="an array of 2 games; save each game as a file"):
        read_game(json.dumps([kobalab, kobalab]))
    with pytest.raises(ReplayFormatError, match="mjai line 2"):
        read_game("[]\n[5]")


def test_a_key_without_a_value_says_nothing() -> None:
    game = read(name=["A", None, "", "D"], dan=None, title=None, rate=None, ref=None)
    assert game.names == ("A", "", "", "D")
    assert game.events[1:] == read().events[1:]
