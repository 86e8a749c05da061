from __future__ import annotations

import os
import stat
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from bot.play.capture import Capture
from tests.bot.captures import read_capture


def test_frames_of_both_sides_stand_one_a_line_with_their_time(tmp_path: Path) -> None:
    times = iter([10.0, 10.25, 12.0])
    path = tmp_path / "new" / "c.tsv"
    with closing(Capture(path, lambda: next(times))) as capture:
        capture.frame("C", '{"tag":"GOK"}')
        capture.frame("S", '{"tag":"T5"}')
    header, *frames = path.read_text().splitlines()
    assert header.startswith("#")
    assert frames == ['0.250\tC\t{"tag":"GOK"}', '2.000\tS\t{"tag":"T5"}']
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_frame_cannot_forge_a_line(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    with closing(Capture(path)) as capture:
        capture.frame("S", 'x\n0.0\tC\t{"tag":"BYE"}\r\0\ud800')
    assert len(path.read_text().splitlines()) == 2


def test_an_earlier_capture_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text("of an earlier run")
    with closing(Capture(path)), closing(Capture(path)):
        assert sorted(file.name for file in tmp_path.iterdir()) == ["c-2.tsv", "c-3.tsv", "c.tsv"]
    assert path.read_text() == "of an earlier run"


def test_a_full_disk_ends_the_capture_not_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(os, "open", lambda *_: full)
    with structlog.testing.capture_logs() as logs, closing(Capture(tmp_path / "c.tsv")) as capture:
        for _ in range(3):
            capture.frame("S", "x" * 9000)
    assert {entry["event"] for entry in logs} == {"capture.failed"}
    assert len(logs) <= 2


def test_a_capture_ends_before_it_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.play.capture.MAX_FILE_BYTES", 2000)
    path = tmp_path / "c.tsv"
    with structlog.testing.capture_logs() as logs, closing(Capture(path)) as capture:
        for _ in range(200):
            capture.frame("S", '{"tag":"T5"}')
    assert [entry["event"] for entry in logs] == ["capture.full"]
    assert path.stat().st_size <= 2000
    assert path.read_text().endswith("# the capture is full\n")
    assert len(list(read_capture(path))) > 50
