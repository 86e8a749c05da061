"""Extraction of single records from shards."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from kit.errors import ReplayError
from kit.text import clean_text
from learning.data import sources
from learning.data.extract import extract
from learning.data.layout import SPLITS, split_of
from replays.formats import MAX_EXPANDED, MAX_FILE, read_game, write_game
from replays.store import shards
from tests.cli import run_cli
from tests.learning.data.games import MODERN, records, texts, write_shard

pytestmark = pytest.mark.usefixtures("restore_logs")


def test_records_come_out_as_they_went_in(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.jsonl.zst", texts(MODERN, 4))
    found = extract([shard], tmp_path / "out")
    assert (found.games, found.unreadable) == (4, ())
    for (game_id, _), record in zip(texts(MODERN, 4), records(MODERN, 4), strict=True):
        assert read_game(tmp_path / "out" / f"{game_id}.mjlog.xml") == record


def test_the_number_of_games_of_a_part_is_limited(tmp_path: Path) -> None:
    text = texts(MODERN, 1)[0][1]
    ids = [f"2026010203gm-0009-0000-{number:08x}" for number in range(200)]
    tests = [game_id for game_id in ids if SPLITS[split_of(game_id)] == "test"]
    assert len(tests) > 4
    shard = write_shard(tmp_path / "a.jsonl.zst", [(game_id, text) for game_id in ids])
    assert extract([shard], tmp_path / "all", parts=["test"]).games == len(tests)
    assert extract([shard], tmp_path / "some", parts=["test"], games=3).games == 3
    assert sorted(path.name for path in (tmp_path / "some").iterdir()) == [
        f"{game_id}.mjlog.xml" for game_id in tests[:3]
    ]


def test_a_bad_line_is_named_and_the_rest_written(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.jsonl.zst", texts(MODERN, 2), b'{"id": "../../escape", "text": ""}\n')
    flags = [str(shard), "--out", str(tmp_path / "out")]
    result = run_cli("corpus", "extract", *flags)
    assert result.exit_code == 1
    assert "2 games in" in result.stdout
    assert "a.jsonl.zst:3" in result.stderr
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert not list(tmp_path.parent.rglob("escape*"))


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.jsonl.zst", texts(MODERN, 1))
    (tmp_path / "file").write_text("")
    with pytest.raises(ReplayError, match=r"cannot be written: .*name another folder"):
        extract([shard], tmp_path / "file" / "out")


def test_files_and_folders_are_read(tmp_path: Path) -> None:
    (id_a, text_a), (_, text_b) = texts(MODERN, 2)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / f"{id_a}.mjlog.xml").write_text(text_a, encoding="utf-8")
    (tmp_path / "b.mjlog.gz").write_bytes(gzip.compress(text_b.encode()))
    (tmp_path / "c.json").write_text(write_game(read_game(text_b), "tenhou6"))
    (tmp_path / "notes.txt").write_text("not a record")
    ids = [sources.load(stored).game_id for stored in sources.stored_games([tmp_path])]
    assert ids[2:] == [id_a]
    assert all(game_id.startswith("nolog-") for game_id in ids[:2])


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.xml", b"\xff\xfe", "not UTF-8"),
        ("a.xml", b"<html></html>", "not a record"),
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
    found = extract([tmp_path / name, write_shard(tmp_path / "good.jsonl.zst", texts(MODERN, 1))], tmp_path)
    assert found.games == len(found.unreadable) == 1
    assert reason in found.unreadable[0]


def test_a_line_that_is_too_long_is_reported_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "MAX_LINE", 1_000_000)
    shard = write_shard(tmp_path / "long.jsonl.zst", [("long", "x" * 3_000_000), *texts(MODERN, 1)])
    found = extract([shard], tmp_path)
    assert found.games == len(found.unreadable) == 1
    assert "more than 1000000 bytes" in found.unreadable[0]


def test_missing_records_are_reported(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="no records"):
        extract([tmp_path], tmp_path)
    assert len(extract([tmp_path / "gone.jsonl.zst"], tmp_path).unreadable) == 1


@pytest.mark.parametrize("name", [b"a\x1b]0;owned\x07\n\xe2\x80\xaeb.xml", b"not-utf-8-\xff.xml"])
def test_file_names_cannot_control_the_terminal(name: bytes, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(name)).write_text("no record")
    for form in ([], ["--json"]):
        result = run_cli("corpus", "extract", tmp_path, "--out", str(tmp_path / "out"), *form)
        assert result.exit_code == 1
        told = [line for line in result.output.split("\n") if "owned" in line or "not-utf-8" in line]
        assert told
        assert all(clean_text(line) == line for line in told)
        assert form or len(told) == 1
