"""Progress on a terminal, and in a log."""

from __future__ import annotations

import io
import time

import pytest
from structlog.testing import capture_logs

from learning.runs import progress as module
from learning.runs.progress import Progress, TrainingProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_log_reports_progress_at_intervals(clock: list[float]) -> None:
    with capture_logs() as logs, Progress("arena.progress", "arena", "games", done=None) as progress:
        clock[0] += 60
        progress.reach(20, 100)  # earlier work does not count towards the speed
        for games in range(21, 31):
            clock[0] += 2
            progress.reach(games, 100)
    assert [log["done"] for log in logs] == [20, 25, 30]
    assert logs[-1] == {
        "event": "arena.progress",
        "log_level": "info",
        "what": "arena",
        "done": 30,
        "total": 100,
        "unit": "games",
        "per_s": 0.5,
        "left_s": 140,
    }
    assert logs[0]["left_s"] is None


def test_notes_are_shown_while_nothing_is_counted(clock: list[float]) -> None:
    with capture_logs() as logs, Progress("arena.progress", "arena", "games", done=None) as progress:
        progress.reach(0, 400)
        for second in range(1, 46):
            clock[0] += 1
            progress.note(decisions=f"{70 * second:,}")
            progress.reach(0, 400)
    assert [(log["event"], log["done"], log["decisions"]) for log in logs] == [
        ("arena.progress", 0, decisions) for decisions in ("700", "1,400", "2,100", "2,800")
    ]


def test_a_terminal_shows_a_bar_and_no_lines(clock: list[float]) -> None:
    terminal = Terminal()
    with capture_logs() as logs, Progress("x.progress", "x", "games", total=40, stream=terminal) as progress:
        clock[0] += 20
        progress.advance(10)
        progress.note(loss="0.5")
        progress.say()
    assert not logs
    assert "10/40" in terminal.getvalue()
    assert "games, 0.50/s" in terminal.getvalue()
    assert "loss 0.5" in terminal.getvalue()


def test_a_log_goes_on_while_one_step_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.01)
    until = time.monotonic() + 60.0
    with capture_logs() as logs, TrainingProgress("discard", "samples", 1_000, 0):
        while len(logs) < 3:
            assert time.monotonic() < until
            time.sleep(0.005)


@pytest.mark.usefixtures("clock")
def test_quiet_shows_nothing() -> None:
    terminal = Terminal()
    with (
        capture_logs() as logs,
        Progress("x.progress", "x", "games", quiet=True, stream=terminal) as progress,
    ):
        progress.advance(10)
        progress.say()
    assert not logs
    assert not terminal.getvalue()


def test_training_shows_its_loss_and_reports_every_validation(clock: list[float]) -> None:
    with capture_logs() as logs, TrainingProgress("discard", "samples", 1_000, 200) as progress:
        clock[0] += 4
        progress.learned(400, 2.0)
        progress.learned(100, 1.0)
        assert progress.speed == pytest.approx(125)
        assert [log["done"] for log in logs] == [200]
        progress.validated("70 %")
    assert len(logs) == 2
    assert (logs[1]["done"], logs[1]["left_s"], logs[1]["loss"], logs[1]["validation"]) == (
        700,
        2,
        "1.9800",
        "70 %",
    )
