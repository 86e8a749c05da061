"""The program, run within a test's process."""

from __future__ import annotations

import io
import sys
from typing import NamedTuple

import pytest

from bot import cli


class Result(NamedTuple):
    """The end of a run: its exit code and all that it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """All that was printed."""
        return self.stdout + self.stderr


def run_cli(*words: object, stdin: bytes = b"") -> Result:
    """Run `suzaku` with these words; an error that it does not report is raised."""
    printed, reported = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        patch.setattr(sys, "stdout", printed)
        patch.setattr(sys, "stderr", reported)
        try:
            cli.app([str(word) for word in words], prog_name="suzaku")
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int)
    return Result(code, *(_text(file) for file in (printed, reported)))


def _text(file: io.TextIOWrapper) -> str:
    file.seek(0)
    return file.read()
