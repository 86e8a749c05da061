from __future__ import annotations

import io
import sys
import threading
from functools import partial

import pytest
import structlog

from bot.logs.setup import set_up_logs
from bot.terminal.live import LiveTable
from bot.terminal.table import render
from game.state import clone, new_round

NAMES = ("a", "b", "c", "d")
PATIENCE_S = 240.0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _known_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def test_the_last_picture_and_every_line_are_shown_before_it_ends() -> None:
    terminal, record = Terminal(), new_round()
    with LiveTable(terminal, refresh_s=0) as table:
        for index in range(50):
            record["round_index"] = index % 8
            table.update(partial(render, clone(record), 0, NAMES, None))
            print(f"line {index}", file=sys.stderr)
    shown = terminal.getvalue()
    assert [f"line {index}\n" in shown for index in range(50)] == [True] * 50
    assert "East 2" in shown.rsplit("╭", 1)[-1]


def test_stderr_comes_back_whatever_happened() -> None:
    before = sys.stderr
    with pytest.raises(KeyError), LiveTable(Terminal()):
        assert sys.stderr is not before
        raise KeyError
    assert sys.stderr is before


def test_log_lines_go_above_the_table(restore_logs: None) -> None:
    terminal = Terminal()
    set_up_logs(log_format="console")
    with LiveTable(terminal, refresh_s=0):
        structlog.get_logger().info("round.ended", scores=[1, 2, 3, 4])
    assert "round.ended" in terminal.getvalue()


def test_a_terminal_that_does_not_read_delays_nobody() -> None:
    stuck, reading, in_time = threading.Event(), threading.Event(), []

    class Stuck(Terminal):
        def write(self, text: str) -> int:
            if "line" in text:
                stuck.set()
                in_time.append(reading.wait(5))
            return len(text)

    with LiveTable(Stuck(), refresh_s=0) as table:
        print("line", file=sys.stderr)
        assert stuck.wait(PATIENCE_S)
        for _ in range(100):
            table.update(partial(render, new_round(), 0, NAMES, None))
            print("line", file=sys.stderr)
        reading.set()
    assert all(in_time)


def test_a_terminal_that_fails_costs_the_picture_not_the_game() -> None:
    told = threading.Event()

    class Gone(Terminal):
        def flush(self) -> None:
            raise OSError("gone")

        def write(self, text: str) -> int:
            if "can no longer be shown" in text:
                told.set()
            return super().write(text)

    gone = Gone()
    with LiveTable(gone, refresh_s=0) as table:
        table.update(partial(render, new_round(), 0, NAMES, None))
        assert told.wait(PATIENCE_S)
        print("still here", file=sys.stderr)
    assert "can no longer be shown" in gone.getvalue()
    assert "still here" in gone.getvalue()
