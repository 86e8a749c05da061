"""The program, run within a test's process or as one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from cyclopts import App

from bot.cli import program

ROOT = Path(__file__).parents[1]
HANG_S = 120


class Result(NamedTuple):
    """The end of a run: its exit code and all that it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """All that was printed."""
        return self.stdout + self.stderr


def commands(app: App = program.app, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """Every command, with the words that name it."""
    if app.default_command is not None:
        yield path, app
    for name in app:
        if not name.startswith("-"):
            yield from commands(app[name], (*path, name))


def run_cli(*words: object, stdin: bytes = b"") -> Result:
    """Run `suzaku` with these words; an error that it does not report is raised."""
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    reported = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        patch.setattr(sys, "stdout", printed)
        patch.setattr(sys, "stderr", reported)
        code = program.run([str(word) for word in words])
    return Result(code, *(_text(file) for file in (printed, reported)))


def _text(file: io.TextIOWrapper) -> str:
    file.seek(0)
    return file.read()


@contextlib.contextmanager
def start(*args: str, hang_s: float = HANG_S) -> Iterator[subprocess.Popen[str]]:
    """The program as a process of its own, killed at the end of the test."""
    with subprocess.Popen(
        [sys.executable, "-m", "bot.cli", *args],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(hang_s, process.kill)
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            process.kill()
