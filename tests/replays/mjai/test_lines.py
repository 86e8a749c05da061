import json

import pytest

from game.events import Discard, Draw, DrawnRound, PlayerLeft, StartRound, Win
from kit.errors import ReplayFormatError, ReplayTooLarge
from replays import mjai
from replays.mjlog.reader import read_record
from tests.replays.games import whole_game
from tests.scale import scaled
from tests.scene import Scene
from tests.shared import shard_texts


def scene() -> Scene:
    return Scene("123m406p789s1122z", dora="3z").own("9p", "9p").turn("5s").turn("0s").turn("4m")


def test_events_survive_mjai_exactly() -> None:
    events = scene().events
    assert mjai.read(mjai.write(events)) == events


def test_without_physical_tiles_the_faces_survive() -> None:
    text = mjai.write(scene().events, exact=False)
    assert "136" not in text
    again = mjai.read(text)
    assert mjai.write(again, exact=False) == text
    assert [type(e) for e in again] == [type(e) for e in scene().events]


def test_messages_are_what_engines_expect() -> None:
    events = scene().draw("1z").events
    start, draw, discard = (mjai.render(e) for e in events[:3])
    assert start is not None
    assert start["tehais"][0] == ["1m", "2m", "3m", "4p", "5pr", "6p", "7s", "8s", "9s", "E", "E", "S", "S"]
    assert start["tehais"][1] == ["?"] * 13
    assert (start["bakaze"], start["kyoku"], start["dora_marker"]) == ("E", 1, "W")
    assert draw == {"type": "tsumo", "actor": 0, "pai": "9p"}
    assert discard == {"type": "dahai", "actor": 0, "pai": "9p", "tsumogiri": True}
    assert mjai.render(PlayerLeft(1)) is None


@pytest.mark.parametrize("shard", ["houou-01", "strongbot-00", "other-00"])
def test_real_games_survive_mjai(shard: str) -> None:
    for game_id, text in shard_texts(shard, scaled(2, 4)):
        events = list(read_record(text, game_id).events)
        assert mjai.read(mjai.write(events)) == events
        faces = mjai.write(events, exact=False)
        assert mjai.write(mjai.read(faces), exact=False) == faces


def test_a_win_without_our_own_keys_still_settles() -> None:
    table = Scene("123m456p789s1122z", sticks=1).own("9p", "9p").turn("1z")
    line = {"type": "hora", "actor": 0, "target": 1, "deltas": [3000, -2000, 0, 0], "ura_markers": []}
    *_, win = mjai.read(mjai.write(table.events, exact=False) + json.dumps(line))
    assert isinstance(win, Win)
    assert win.riichi_sticks == 1
    assert len(win.hand) == 14


def test_the_winning_tile_of_a_hidden_hand_is_the_one_the_message_names() -> None:
    table = Scene("123m456p789s1122z").own("9p", "9p").draw()
    line = {"type": "hora", "actor": 1, "target": 1, "pai": "5mr", "deltas": [-4000, 8000, -2000, -2000]}
    *_, win = mjai.read(mjai.write(table.events, exact=False) + json.dumps(line))
    assert isinstance(win, Win)
    assert (win.tile, win.hand) == (16, ())
    del line["pai"]
    with pytest.raises(ReplayFormatError, match="pai"):
        mjai.read(mjai.write(table.events, exact=False) + json.dumps(line))


@pytest.mark.parametrize(
    ("turns", "reason"),
    [(("4z", "4z", "4z"), "four_winds"), ((), "nine_terminals"), (("4z", "4z"), "triple_ron")],
)
def test_an_unnamed_abort_is_told_from_the_table(turns: tuple[str, ...], reason: str) -> None:
    table = Scene("129m19p199s12347z").draw("9p")
    if turns:
        table.discard("4z")
    for text in turns:
        table.turn(text)
    *_, end = mjai.read(mjai.write(table.events) + '{"type":"ryukyoku","deltas":[0,0,0,0]}')
    assert isinstance(end, DrawnRound)
    assert end.reason == reason


@pytest.mark.parametrize(
    "line",
    [
        "[3]",
        "{",
        "null",
        '{"type":"pig"}',
        '{"type":["dahai"]}',
        '{"type":"dahai","actor":0}',
        '{"type":"dahai","actor":0,"pai":"9z","tsumogiri":false}',
        '{"type":"dahai","actor":4,"pai":"1m","tsumogiri":false}',
        '{"type":"dahai","actor":true,"pai":"1m","tsumogiri":false}',
        '{"type":"tsumo","actor":1,"pai":"?","tiles136":[7]}',
        '{"type":"tsumo","actor":1,"pai":"?","tiles136":"x"}',
        '{"type":"start_kyoku","bakaze":"Q","kyoku":1}',
        "[" * 5000,
    ],
)
def test_invalid_mjai_is_refused_with_its_line(line: str) -> None:
    events = scene().events
    with pytest.raises(ReplayFormatError, match=rf"line {len(events) + 1}"):
        mjai.read(mjai.write(events) + line)


def test_endless_files_are_refused() -> None:
    with pytest.raises(ReplayTooLarge):
        mjai.read("{}\n" * 50_000)
    with pytest.raises(ReplayTooLarge):
        mjai.read('{"type":"' + "x" * 100_000 + '"}')


def test_the_reader_keeps_the_drawn_copy_apart() -> None:
    deal, draw, discard = mjai.read(
        mjai.write(Scene("1123m456p789s122z").own("1m", "1m").events, exact=False)
    )
    assert isinstance(deal, StartRound)
    assert isinstance(draw, Draw)
    assert discard == Discard(0, draw.tile, True)


def test_a_record_of_another_program_also_gets_a_head() -> None:
    text = '{"type":"start_game","names":["A","B","C","D"]}\n' + mjai.write(scene().events, exact=False)
    record = mjai.read_record(text)
    assert (record.game_id, record.game_type, record.names) == ("", 9, ("A", "B", "C", "D"))


def test_a_silent_line_does_not_hide_the_head() -> None:
    first, *rest = mjai.write_record(whole_game()).splitlines(keepends=True)
    record = mjai.read_record(first + '{"type":"none"}\n' + "".join(rest))
    assert record == whole_game()


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"type":"end_kyoku"}',
        '{"type":"start_game"}\n{"type":"start_game"}',
        '{"type":"start_game","suzaku_record":{"game_id":"../x"}}',
        '{"type":"start_game","suzaku_record":{"game_type":99999}}',
        '{"type":"start_game","suzaku_record":3}',
        '{"type":"start_game","id":' + "9" * 5000 + "}",
        '{"type":"start_game"}\n{"type":"end_game","scores":[1e999,0,0,0]}',
    ],
)
def test_an_invalid_record_in_mjai_is_refused(text: str) -> None:
    with pytest.raises(ReplayFormatError):
        mjai.read_record(text)
