"""Records in every format; and input from strangers does no harm."""

from __future__ import annotations

import codecs
import contextlib
import copy
import json
import os
import random
import re
import time
import tracemalloc
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from game.events import Draw, EndRound, StartRound
from kit.errors import ReplayError, ReplayFormatError, ReplayTooLarge
from replays import mjlog
from replays.formats import (
    FORMATS,
    MAX_EXPANDED,
    MAX_FILE,
    compress,
    parse,
    read_game,
    write_game,
)
from replays.record import GameRecord
from tests.replays.games import GAME_ID, whole_game
from tests.scale import scaled

FILES = Path(__file__).parent / "files" / "ok"
SMALL_MJLOG = (FILES / "mjlog-plain.xml").read_text()


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return whole_game()


# --- every format ------------------------------------------------------------------------------------


def test_a_record_without_an_end_is_no_mjlog() -> None:
    with pytest.raises(ReplayFormatError, match="stops before"):
        write_game(read_game(FILES / "tenhou6-plain.json"), "mjlog")


def test_invalid_events_are_not_written(game: GameRecord) -> None:
    starts = [number for number, event in enumerate(game.events) if isinstance(event, StartRound)]
    drawn = next(number for number, event in enumerate(game.events) if isinstance(event, Draw))
    for events in (
        game.events[5:],
        (*game.events[: starts[0] + 1], game.events[-1]),
        (*game.events[:drawn], *game.events[drawn + 1 :]),
        (*game.events, game.events[drawn]),
    ):
        with pytest.raises(ReplayFormatError):
            write_game(msgspec.structs.replace(game, events=events), "mjlog")


@pytest.mark.parametrize("last", [Draw, EndRound])
def test_a_game_without_an_end_is_written_as_unfinished_and_read_up_to_there(
    game: GameRecord, last: type
) -> None:
    *_, before, _ = (number for number, event in enumerate(game.events) if isinstance(event, last))
    cut = msgspec.structs.replace(game, events=game.events[: before + 1])
    assert mjlog.read_record(mjlog.write(cut)).events == cut.events


@pytest.mark.parametrize(
    ("name", "game_id"),
    [
        (f"{GAME_ID}.mjlog.xml", GAME_ID),
        (f"{GAME_ID}&tw=2.mjlog", GAME_ID),
        ("2009112115gm-0029-0000-x0123456789ab.xml", "2009112115gm-0029-0000-x0123456789ab"),
        ("game.xml", ""),
        (f"{GAME_ID}0.xml", ""),
        (f"..{GAME_ID}.xml", ""),
    ],
)
def test_the_id_of_an_mjlog_is_its_files(name: str, game_id: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SMALL_MJLOG)
    assert read_game(tmp_path / name).game_id == game_id


@pytest.mark.parametrize("name", ["kobalab-tonpuu.json", "mjai-array.json", "mjai-bare-win.jsonl"])
def test_a_byte_order_mark_is_skipped(name: str) -> None:
    data = (FILES / name).read_bytes()
    assert parse(codecs.BOM_UTF8 + data) == parse(data)


# --- what is no record -------------------------------------------------------------------------------


def test_a_huge_attribute_is_refused_in_bounded_memory() -> None:
    for size in (10_000, 1_000_000):
        with pytest.raises(ReplayTooLarge):
            read_game(SMALL_MJLOG.replace('n0="%41"', f'n0="{"x" * size}"'))
    packed = compress(f'<mjloggm ver="{"x" * 100_000_000}">')
    _refused_cheaply(lambda: parse(packed), ReplayTooLarge)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 4_000_000,
        "{" * 4_000_000,
        '{"a":' * 1_000_000,
        '{"log":' + "[" * 4_000_000,
        '{"log":[' + "[" * 500_000 + "]" * 500_000 + "]}",
        '{"type":' + "[" * 60_000,
        '{"type":"start_game"}\n{"type":"dahai","actor":' + "[" * 50_000 + "]" * 50_000 + "}",
        "<a>" * 1_000_000,
        "<mjloggm>" * 500_000,
        "<" * 4_000_000,
        "<mjloggm" + " a" * 900_000,
        "https://tenhou.net/6#json=" + "%5B" * 1_000_000,
        "https://tenhou.net/6" + "#" * 1_000_000,
        " " * 7_000_000,
        "\n" * 7_000_000,
        '{"type":"none"}\n' * 400_000,
        '{"type":"' + "x" * 100_000 + '"}',
        '{"title":["' + "x" * 2_000_000 + '",""],"log":[]}',
        '{"log":[' + ",".join(["[[0,0,0]]"] * 101) + "]}",
    ],
    ids=range(19),
)
def test_deep_and_endless_texts_are_refused_at_once(text: str) -> None:
    _refused_cheaply(lambda: read_game(text), ReplayError)


def _refused_cheaply(read: Any, error: type[ReplayError]) -> None:
    tracemalloc.start()
    begun = time.process_time()
    try:
        with pytest.raises(error):
            read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert time.process_time() - begun < 5.0
    assert peak < 100 * 1024 * 1024


# --- gzip --------------------------------------------------------------------------------------------


def test_a_cut_gzip_is_refused_at_every_length() -> None:
    whole = compress(SMALL_MJLOG)
    assert parse(whole).rounds == 1
    for length in range(len(whole)):
        with pytest.raises(ReplayFormatError):
            parse(whole[:length])


@pytest.mark.parametrize("tail", [compress(SMALL_MJLOG), b"\0", b"x"])
def test_several_members_are_refused(tail: bytes) -> None:
    with pytest.raises(ReplayFormatError, match="follows"):
        parse(compress(SMALL_MJLOG) + tail)


# --- files -------------------------------------------------------------------------------------------


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    paths = [tmp_path, tmp_path / "gone", tmp_path / "pipe", Path("/dev/zero"), tmp_path / ("x" * 300)]
    for path in [*paths, Path("nul\0byte"), tmp_path / "a" / ".." / "gone"]:
        with pytest.raises(ReplayError):
            read_game(path)


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "sparse.xml"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    _refused_cheaply(lambda: read_game(path), ReplayTooLarge)
    assert MAX_FILE < MAX_EXPANDED


@pytest.mark.parametrize(
    "name", ["\0", "a\0b", "\x1b[2J", "../../x", "\u202e", "\ud800", "<script>", "x" * 500]
)
def test_names_from_strangers_stay_names(name: str, game: GameRecord) -> None:
    named = msgspec.structs.replace(game, names=(name, "b", "c", "d"))
    for form in FORMATS:
        text = write_game(named, form)
        record = parse(text.encode("utf-8", "replace"))
        assert record.rounds == game.rounds
        assert len(record.names[0]) <= 64


# --- fuzz --------------------------------------------------------------------------------------------


FORMS = {"mjlog": "mjlog-*.xml", "mjai": "mjai-*.jsonl", "kobalab": "kobalab-*.json"}
FORMS |= dict.fromkeys(("tenhou6", "link"), "tenhou6-*.json")
PIECES = [*'"<>&[]{},0\0', "-1", "136", "1e999", "null", "60", "r60", "/>", "", "13", "999999999", "x"]
VALUES = [None, True, 0, -1, 4, 47, 60, 136, 10**20, -(10**20), 0.5, 1e300, "", "?", "5mr", "E", "\ud800"]
VALUES += [[], {}, [None], [0] * 4, [999], [[[]]], "r60", "p474747", "k11111111", "c111213"]
VALUES += ["満貫8000点", "立直(1飜)", "和了", "流局", "C12345678", "\U000e0001" * 500]


def _mutated(text: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice((0, 1, 2, 8, 60)))
        match dice.randrange(8):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + dice.choice(PIECES) + text[end:]
            case 2:
                text = text[:at] + text[dice.randrange(len(text) + 1) :][:40] + text[at:]
            case 3:
                text = text[:at]
            case _:
                number = re.compile("[0-9]+").search(text, at)
                if number:
                    text = text[: number.start()] + dice.choice(PIECES) + text[number.end() :]
    return text or " "


def _with_other_values(text: str, dice: random.Random) -> str:
    """Lines of JSON with other values in places of any depth, or without some."""
    lines = [json.loads(line) for line in text.splitlines()]
    for _ in range(dice.randint(1, 3)):
        node: Any = lines
        while node:
            key = dice.choice([*node] if isinstance(node, dict) else range(len(node)))
            if isinstance(node[key], dict | list) and dice.randrange(10):
                node = node[key]
                continue
            if dice.randrange(4):
                near = node[key] + dice.choice((-1, 1, 100)) if isinstance(node[key], int) else None
                node[key] = copy.deepcopy(dice.choice([*VALUES, *[near] * len(VALUES)]))
            else:
                del node[key]
            break
    return "\n".join(map(json.dumps, lines))


def _is_read_or_refused(text: str) -> GameRecord | None:
    begun = time.process_time()
    record = None
    try:
        record = read_game(text)
    except ReplayError as exc:
        assert 0 < len(str(exc)) <= 160
        assert "the reader fails" not in str(exc)
    assert time.process_time() - begun < 5.0
    return record


@pytest.mark.parametrize("form", FORMS)
def test_mutated_records_are_refused_or_read_and_written_in_another_format(form: str) -> None:
    dice, written = random.Random(20), 0
    seeds = [path.read_text("utf-8") for path in sorted(FILES.glob(FORMS[form]))]
    for _ in range(scaled(60 if form == "kobalab" else 200, 20_000)):
        change = _mutated if form == "mjlog" or dice.randrange(4) == 0 else _with_other_values
        text = change(dice.choice(seeds), dice)
        record = _is_read_or_refused("https://tenhou.net/6#json=" + quote(text) if form == "link" else text)
        if record is not None and dice.randrange(4) == 0:
            with contextlib.suppress(ReplayError):  # a format cannot store every game
                again = write_game(record, dice.choice([each for each in FORMATS if each != form]))
                assert read_game(again).rounds == record.rounds
                written += 1
    assert written


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for start in (b"", b"\x1f\x8b", b"<mjloggm>", b'{"log":', b'{"type":'):
        with pytest.raises(ReplayError):
            parse(start + data)
