"""The program, run within a test's process."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from cyclopts import App

from bot.cli import program


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
