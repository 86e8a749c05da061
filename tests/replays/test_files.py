"""Every file of `files/` is read or refused as its table says; real games survive every format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from game.events import PlayerLeft, PlayerReturned, Win
from game.tiles import face_of
from kit.errors import ReplayError, ReplayFormatError
from replays import mjlog, tenhou6
from replays.formats import read_game, write_game
from replays.mjai.lines import render
from replays.record import GameRecord
from tests.bot.captures import capture
from tests.replays.games import seen_from, whole_game
from tests.scale import scaled
from tests.shared import shard_texts

FILES = Path(__file__).parent / "files"
TABLE = re.findall(r"^\| `(\S+)` \| .* \| (.+) \|$", (FILES / "README.md").read_text("utf-8"), re.MULTILINE)
SHARDS = ("houou-00", "houou-01", "houou-02", "other-00", "strongbot-00")


def rows(folder: str) -> pytest.MarkDecorator:
    """The rows of the table about one folder."""
    named = [pytest.param(*row, id=row[0]) for row in TABLE if row[0].startswith(f"{folder}/")]
    return pytest.mark.parametrize(("name", "expected"), named)


def shows(text: str, expected: str) -> bool:
    """Whether a text has all parts of a cell, in their order."""
    parts = expected.strip("`").split(" … ")
    return re.search(".*".join(map(re.escape, parts)), text, re.DOTALL) is not None


def comparable(record: GameRecord) -> list[tuple[str, object]]:
    """The parts of a game that Tenhou's JSON stores: faces, and hands as sets of them."""
    has_reds = not record.game_type & 2

    def face(tile: int) -> int:
        return face_of(tile) if has_reds else tile >> 2

    kept: list[tuple[str, object]] = []
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
    # when the indicator of a kan is revealed follows from Tenhou's rules
    return sorted(kept, key=lambda each: each[0] == "DoraRevealed")


def faces(record: GameRecord) -> str:
    """A game in mjai as other programs write it, without physical tiles and values."""
    messages = map(render, record.events)
    return "".join(json.dumps(message) + "\n" for message in messages if message)


def check(record: GameRecord) -> None:
    """Check that each format gives back what it stores."""

    def alike(back: GameRecord, **lost: object) -> None:
        kept = {"rules_said": record.rules_said} | lost
        assert msgspec.structs.replace(back, **kept) == msgspec.structs.replace(record, **lost)

    alike(read_game(write_game(record, "mjai")))
    if all(event.hand for event in record.events if isinstance(event, Win)):
        alike(mjlog.read_record(mjlog.write(record), record.game_id), dice=(), round_shuffles=())
    text = faces(record)
    assert faces(read_game(text)) == text
    if not record.is_complete:
        with pytest.raises(ReplayFormatError, match="shows all hands"):
            write_game(record, "tenhou6")
        return
    again = read_game(write_game(record, "tenhou6"))
    assert comparable(again) == comparable(record)
    assert tenhou6.write(again) == tenhou6.write(record)
    lost = ("events", "dice", "shuffle", "round_shuffles")
    alike(again, game_id="", game_type=0, **dict.fromkeys(lost, ()))


def test_every_file_is_in_the_table() -> None:
    there = [str(path.relative_to(FILES)) for folder in ("ok", "bad") for path in (FILES / folder).iterdir()]
    assert sorted(name for name, _ in TABLE if not name.startswith("captures/")) == sorted(there)


@rows("ok")
def test_a_file_is_read_and_survives_every_format(name: str, expected: str) -> None:
    record = read_game(FILES / name)
    if expected.startswith("as "):
        assert record.events == read_game((FILES / name).with_name(expected[4:-1])).events
    else:
        assert shows(repr(record), expected), record
    check(record)


@rows("bad")
def test_a_file_is_refused_with_the_reason(name: str, expected: str) -> None:
    with pytest.raises(ReplayError) as caught:
        read_game(FILES / name)
    said = str(caught.value)
    assert shows(said, expected), said
    assert len(said) <= 160
    assert not re.search("[a-z][A-Z]|Error|Python|object has|NoneType|[Ee]xpected", said), said


def test_a_game_of_ours_goes_through_every_format_with_all_that_it_keeps() -> None:
    game = whole_game()
    check(game)
    assert read_game(write_game(game, "mjai")) == game
    assert mjlog.read_record(mjlog.write(game)).dice[:3] == (*game.dice, (0, 0))
    for player in range(4):
        view = seen_from(game, player)
        check(view)
        assert f'hai{(player + 1) % 4}="' not in re.sub("<(RYUUKYOKU|AGARI)[^>]*>", "", mjlog.write(view))


def test_our_rules_agree_with_every_win_of_a_game_of_majiang_core() -> None:
    stated = read_game(FILES / "ok" / "kobalab-tonpuu.json")
    wins, again = (
        [(win.fu, win.points, win.limit, dict(win.yaku)) for win in record.events if isinstance(win, Win)]
        for record in (stated, read_game(faces(stated)))
    )
    assert wins == again != []


def modern(text: str) -> str:
    """A record of 2009 to 2022, rewritten where today's records differ."""
    text = re.sub(r'</?Scene>|<\?xml.*?\?>|\n| (ref|title|rule|ranking|csrule)="[^"]*"', "", text).strip()
    text = re.sub(r'(<GO type="\d+")/>', r'\1 lobby="0"/>', text)
    text = re.sub(r'(<REACH who="\d") ten="[\d,-]+"', r"\1", text)
    text = re.sub(r'rate="([^"]*)"', lambda m: f"rate={[float(rate) for rate in m[1].split(',')]}", text)
    return re.sub(r'owari="([^"]*)"', lambda m: "owari=" + m[1].replace(".0", ""), text)


@pytest.mark.parametrize("shard", SHARDS)
def test_real_games_survive_every_format(shard: str) -> None:
    for game_id, text in shard_texts(shard, scaled(2, 400)):
        record = mjlog.read_record(text, game_id)
        assert modern(mjlog.write(record)) == modern(text), game_id
        check(record)
        kept = [type(event) for event in record.events if not isinstance(event, PlayerLeft | PlayerReturned)]
        assert [type(event) for event in tenhou6.read_record(tenhou6.write(record)).events] == kept


@rows("captures")
def test_a_captured_record_survives_and_is_written_back_as_it_was(name: str, expected: str) -> None:
    text = capture(Path(name).name).read_text("utf-8")
    record = read_game(text)
    assert shows(repr(record), expected), record
    check(record)
    if name.endswith(".xml"):
        assert modern(mjlog.write(record)) == modern(text)
    else:
        stored, written = json.loads(text), json.loads(tenhou6.write(record))
        assert all(stored[key] == written[key] for key in stored.keys() & written.keys() - {"rule"})
