from __future__ import annotations

import stat
from pathlib import Path

import pytest
import structlog

from bot.capture import Capture

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


def test_fault_23_a_capture_holds_no_secret(tmp_path: Path) -> None:
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


def test_fault_19_a_full_disk_ends_the_capture_not_the_game() -> None:
    with structlog.testing.capture_logs() as logs, Capture(Path("/dev/full")) as capture:
        for _ in range(3):
            capture.frame("S", "x" * 9000)
    assert {entry["event"] for entry in logs} == {"capture.failed"}
    assert len(logs) <= 2


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        Capture(tmp_path)
    assert list(tmp_path.iterdir()) == []
