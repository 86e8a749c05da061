"""Shards of many games: every good one is read, every bad one is reported."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from kit.errors import ReplayFormatError
from replays.store import shards
from replays.store.shards import MAX_LINE, ShardGame, parse_line, shard_lines
from tests.shared import shared


def line(game_id: str = "2026010203gm-0001-0000-0123abcd", text: str = "<mjloggm>", **more: object) -> bytes:
    return json.dumps({"id": game_id, "text": text, **more}).encode() + b"\n"


def shard(folder: Path, *parts: bytes, cut: int = 0) -> Path:
    path = folder / "a.jsonl.zst"
    data = b"".join(zstandard.ZstdCompressor().compress(part) for part in parts)
    path.write_bytes(data[: len(data) - cut])
    return path


def games_of(path: Path) -> list[ShardGame]:
    return [parse_line(each.data, each.number) for each in shard_lines(path)]


def test_games_come_in_order_with_their_ids(tmp_path: Path) -> None:
    path = shard(tmp_path, line("a", "1", source="x/y", format="mjlog") + line("b", "2").strip())
    assert games_of(path) == [
        ShardGame("a", "1", "x/y", "mjlog", 1),
        ShardGame("b", "2", line=2),
    ]


def test_a_real_shard_is_read_whole() -> None:
    games = games_of(shared("data", "tenhou", "other-00.jsonl.zst"))
    assert len(games) == 1773
    assert all(game.text.strip().startswith("<") for game in games)


def test_several_frames_are_one_shard(tmp_path: Path) -> None:
    games = games_of(shard(tmp_path, line("a"), b"", line("b")[:9], line("b")[9:]))
    assert [game.game_id for game in games] == ["a", "b"]


@pytest.mark.parametrize(
    "bad",
    [
        b"no json\n",
        b"\xff\xfe\n",
        b"{}\n",
        b"[" * 100_000 + b"\n",
        b'{"id":3,"text":""}\n',
        line("../../etc/passwd"),
        line("a\0b"),
        line(""),
        line("x" * 81),
        line("a", "\ud800").replace(b"\\ud800", b"\xed\xa0\x80"),
    ],
)
def test_a_bad_line_is_refused_and_the_next_one_read(bad: bytes, tmp_path: Path) -> None:
    first, wrong, last = shard_lines(shard(tmp_path, line("a") + b"\n" + bad + line("z")))
    assert (first.number, wrong.number, last.number) == (1, 3, 4)
    with pytest.raises(ReplayFormatError):
        parse_line(wrong.data)
    assert [parse_line(each.data).game_id for each in (first, last)] == ["a", "z"]


def test_a_line_that_is_too_long_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "MAX_LINE", 500_000)
    path = shard(tmp_path, line("a") + b"x" * 2_000_000 + b"\n" + line("b") + b"y" * 600_000)
    found = [(item.number, len(item.data), item.problem[:9]) for item in shard_lines(path)]
    assert found == [
        (1, len(line("a")) - 1, ""),
        (2, 0, "more than"),
        (3, len(line("b")) - 1, ""),
        (4, 0, "more than"),
    ]


@pytest.mark.parametrize("cut", [1, 4, 5, 20, 100])
def test_a_cut_shard_says_so_behind_its_games(cut: int, tmp_path: Path) -> None:
    noise = "".join(map(chr, range(33, 127)))
    path = shard(tmp_path, line("a"), b"".join(line(f"b{n}", noise[n:]) for n in range(90)), cut=cut)
    *whole, problem = shard_lines(path)
    assert "cut short" in problem.problem
    assert parse_line(whole[0].data).game_id == "a"


@pytest.mark.parametrize("data", [b"", b"no shard", b"\x28\xb5\x2f\xfd", bytes(1000)])
def test_an_invalid_shard_is_one_problem(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(data)
    (problem,) = shard_lines(path)
    assert (problem.number, problem.data) == (1, b"")
    assert "broken" in problem.problem


def test_a_bomb_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = shard(tmp_path, bytes(400_000_000), line("a"))
    tracemalloc.start()
    begun = time.process_time()
    found = list(shard_lines(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [item.problem for item in found] == [f"more than {MAX_LINE} bytes"]
    assert peak < 150_000_000
    assert time.process_time() - begun < 10
