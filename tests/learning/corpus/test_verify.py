from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import msgspec
import pytest
import zstandard

from kit.errors import ReplayError
from kit.text import clean_text
from learning.corpus import sources
from learning.corpus.verify import CorpusReport, render, verify
from replays.formats import MAX_EXPANDED, MAX_FILE, Format, read_game, write_game
from replays.store import shards
from tests.cli import run_cli
from tests.learning.corpus.games import MODERN, OLD, SANMA, texts, write_shard

pytestmark = pytest.mark.usefixtures("restore_logs")
RARE = {
    "double ron": "<AGARI[^>]*/><AGARI",
    "chankan": r'<AGARI[^>]* yaku="(\d+,\d+,)*3,1[,"]',
    "nine terminals": 'type="yao9"',
    "four winds": 'type="kaze4"',
    "nagashi mangan": 'type="nm"',
    "west round": '<INIT seed="8,',
    "bust": r'owari="([^"]*,)?-\d+,-',
}
"""How a game's text shows each."""
MEASURED = ("seconds", "games_per_s", "memory_mb", "workers")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Eight good games, one with a difference, two of three players, one with chips, and two broken lines."""
    good = texts(MODERN, 8)
    wrong = ("wrong", good[0][1].replace('ten="30,', 'ten="40,', 1))
    chips = ("chips", re.sub(r'<GO type="\d+"', '<GO type="673"', good[0][1]))
    games = (*good, wrong, *texts(SANMA, 2), chips)
    return write_shard(tmp_path / "mixed.jsonl.zst", games, b'{"id": "broken"}\nno json\n')


def without_measures(report: CorpusReport) -> dict[str, object]:
    return {name: value for name, value in msgspec.structs.asdict(report).items() if name not in MEASURED}


def test_a_shard_is_counted_game_by_game(mixed: Path) -> None:
    report = verify([mixed], workers=1)
    assert (report.games, report.checked, report.unreadable) == (14, 9, 2)
    assert report.not_supported == {"three players": 2, "chips": 1}
    assert report.seeded == 9
    fu = [found for found in report.listed if found.game_id == "wrong"]
    assert fu
    assert "fu 40 in the record, 30 by our rules" in fu[0].text
    assert report.differences == len(fu)
    assert {found.kind for found in report.listed if found.game_id != "wrong"} == {"unreadable"}
    assert any("mixed.jsonl.zst:13" in found.text for found in report.listed)
    text = render(report)
    assert "9 checked, 2 unreadable, 3 not supported" in text
    assert "fu 40 in the record" in text


@pytest.mark.parametrize("form", ["tenhou6", "mjai"])
def test_a_game_in_another_format_is_checked(form: Format, tmp_path: Path) -> None:
    ((_, text),) = texts(MODERN, 1)
    path = tmp_path / "game.json"
    path.write_text(write_game(read_game(text), form))
    report = verify([path], workers=1)
    assert (report.games, report.checked, report.differences) == (1, 1, 0)


@pytest.mark.slow
def test_processes_find_the_same(mixed: Path) -> None:
    assert without_measures(verify([mixed], workers=2)) == without_measures(verify([mixed], workers=1))


def test_files_and_folders_are_read(tmp_path: Path) -> None:
    (id_a, text_a), (_, text_b) = texts(MODERN, 2)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / f"{id_a}.mjlog.xml").write_text(text_a, encoding="utf-8")
    (tmp_path / "b.mjlog.gz").write_bytes(gzip.compress(text_b.encode()))
    (tmp_path / "notes.txt").write_text("not a record")
    report = verify([tmp_path], workers=1)
    assert (report.games, report.checked, report.differences) == (2, 2, 0)
    ids = [sources.load(stored).game_id for stored in sources.stored_games([tmp_path])]
    assert ids[1] == id_a
    assert ids[0].startswith("nolog-")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.xml", b"\xff\xfe", "not UTF-8"),
        ("a.xml", b"<game></game>", "not an mjlog"),
        ("a.gz", gzip.compress(b"x", mtime=0)[:-6], "cut short"),
        ("a.gz", gzip.compress(b" " * (MAX_EXPANDED + 1), mtime=0), "expands past"),
        ("a.xml", b" " * (MAX_FILE + 1), "more than"),
        ("a.jsonl.zst", b"no shard", "a.jsonl.zst"),
        ("a.jsonl.zst", b"", "empty"),
        ("a.jsonl.zst", zstandard.compress(b'{"id":"a","text":""}')[:-1], "cut short"),
    ],
)
def test_a_broken_file_is_reported_and_skipped(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    good = write_shard(tmp_path / "good.jsonl.zst", texts(MODERN, 1))
    report = verify([tmp_path / name, good], workers=1)
    assert report.checked == 1
    assert report.unreadable == 1
    assert reason in report.listed[0].text


def test_a_line_that_is_too_long_is_reported_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "MAX_LINE", 1_000_000)
    games = [("long", "x" * 3_000_000), *texts(MODERN, 1)]
    report = verify([write_shard(tmp_path / "long.jsonl.zst", games)], workers=1)
    assert (report.checked, report.unreadable) == (1, 1)
    assert "more than 1000000 bytes" in report.listed[0].text


def test_missing_records_are_reported(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="no records"):
        verify([tmp_path], workers=1)
    assert verify([tmp_path / "gone.jsonl.zst"], workers=1).unreadable == 1


def test_the_command_prints_json_and_fails_on_differences(mixed: Path, tmp_path: Path) -> None:
    result = run_cli("corpus", "verify", mixed, "--json", "--workers", "1")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["checked"] == 9
    good = write_shard(tmp_path / "good.jsonl.zst", texts(MODERN, 2))
    result = run_cli("corpus", "verify", good, "--workers", "1")
    assert result.exit_code == 0
    assert "differences 0" in result.stdout


def test_fault_28_real_games_with_rare_endings_agree_with_our_rules(tmp_path: Path) -> None:
    found = {}
    for name, pattern in RARE.items():
        found[name] = next(game for game in texts(OLD, 330) if re.search(pattern, game[1]))
    shard = write_shard(tmp_path / "rare.jsonl.zst", dict(found.values()).items())
    result = run_cli("corpus", "verify", shard, "--json", "--workers", "1")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["checked"], report["differences"]) == (0, len(set(found.values())), 0)


@pytest.mark.parametrize("name", [b"a\x1b]0;owned\x07\n\xe2\x80\xaeb.xml", b"not-utf-8-\xff.xml"])
def test_file_names_cannot_control_the_terminal(name: bytes, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(name)).write_text("no record")
    for command in ("verify", "extract"):
        flags = ["--out", str(tmp_path / "out")] if command == "extract" else ["--workers", "1"]
        for form in ([], ["--json"]):
            result = run_cli("corpus", command, tmp_path, *flags, *form)
            assert result.exit_code == 1
            told = [line for line in result.output.split("\n") if "owned" in line or "not-utf-8" in line]
            assert told
            assert all(clean_text(line) == line for line in told)
            assert form or len(told) == 1
