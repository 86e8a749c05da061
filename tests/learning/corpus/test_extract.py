"""Extraction of single records from shards."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.errors import ConfigError, ReplayError
from learning.corpus.extract import extract
from learning.corpus.layout import SPLITS, split_of
from replays.formats import read_game
from tests.cli import run_cli
from tests.learning.corpus.games import MODERN, records, texts, write_shard

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


def test_an_unknown_part_is_reported(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.jsonl.zst", texts(MODERN, 1))
    with pytest.raises(ConfigError, match="--part tests: the parts are train, validation, test"):
        extract([shard], tmp_path / "out", parts=["tests"])
