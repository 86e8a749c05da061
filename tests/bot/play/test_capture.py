from __future__ import annotations

import stat
from pathlib import Path

import pytest
import structlog

from bot.logs.setup import LIMIT
from bot.play.capture import Capture
from tests.bot.captures import read_capture

LOGIN = "ID0A1B2C3D-Marker01"


def test_frames_of_both_sides_stand_one_a_line_with_their_time(tmp_path: Path) -> None:
    times = iter([10.0, 10.25, 12.0])
    path = tmp_path / "new" / "c.tsv"
    with Capture(path, lambda: next(times)) as capture:
        capture.frame("C", '{"tag":"GOK"}')
        capture.frame("S", '{"tag":"T5"}')
    header, *frames = path.read_text().splitlines()
    assert header.startswith("#")
    assert frames == ['0.250\tC\t{"tag":"GOK"}', '2.000\tS\t{"tag":"T5"}']
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_capture_holds_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    with Capture(path) as capture:
        capture.frame("C", f'{{"tag":"HELO","name":"{LOGIN}","sx":"M","gpid":"0A1B2C3D-4E5F6071"}}')
    assert "Marker01" not in path.read_text()
    assert "4E5F6071" not in path.read_text()


def test_a_frame_cannot_forge_a_line(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    with Capture(path) as capture:
        capture.frame("S", 'x\n0.0\tC\t{"tag":"BYE"}\r\0\ud800')
    assert len(path.read_text().splitlines()) == 2


def test_a_full_disk_ends_the_capture_not_the_game() -> None:
    with structlog.testing.capture_logs() as logs, Capture(Path("/dev/full")) as capture:
        for _ in range(3):
            capture.frame("S", "x" * 9000)
    assert {entry["event"] for entry in logs} == {"capture.failed"}
    assert len(logs) <= 2


def test_an_unwritable_file_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        Capture(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_chat_without_end_is_counted_and_the_game_between_it_written(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    now = 0.0
    with Capture(path, lambda: now) as capture:
        for _ in range(10_000):
            capture.frame("S", '{"tag":"CHAT","text":"%41"}')
        capture.frame("S", '{"tag":"T5"}')
        now = 61.0
        capture.frame("S", '{"tag":"CHAT","text":"%42"}')
        for _ in range(LIMIT):
            capture.frame("S", '<CHAT text="%43"/>')
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + LIMIT + 1 + 1 + LIMIT + 1
    assert f"# {10_000 - LIMIT} chat frames left out" in lines
    assert lines[-1] == "# 1 chat frames left out"
    frames = [frame.text for frame in read_capture(path) if frame]
    assert '{"tag":"T5"}' in frames
    assert '{"tag":"CHAT","text":"%42"}' in frames


def test_a_capture_ends_before_it_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.play.capture.MAX_FILE_BYTES", 2000)
    path = tmp_path / "c.tsv"
    with structlog.testing.capture_logs() as logs, Capture(path) as capture:
        for _ in range(200):
            capture.frame("S", '{"tag":"T5"}')
    assert [entry["event"] for entry in logs] == ["capture.full"]
    assert path.stat().st_size <= 2000
    assert path.read_text().endswith("# the capture is full\n")
    assert len(list(read_capture(path))) > 50
