"""Engines for tests, as players, and the processes they leave behind."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from tests.learning.selfplay import engine_program

_PROGRAM = engine_program.__file__
_END_S = 60.0
"""Time for a killed process to end. Nobody waits for an engine's own children, and a machine may be busy."""


def engine_text(folder: Path, *way: str, dialect: str = "engine") -> str:
    """An engine that behaves in a given way, in the form the arena takes."""
    folder.mkdir(exist_ok=True)
    return f"{dialect}:{shlex.join([sys.executable, '-I', '-S', _PROGRAM, str(folder), *way])}"


def started(folder: Path) -> list[int]:
    """The process ids an engine has had."""
    return [int(path.name) for path in folder.iterdir()]


def games_ended(folder: Path) -> list[int]:
    """How many game ends each process was sent."""
    return [len(path.read_text()) for path in folder.iterdir()]


def alive(folder: Path) -> list[int]:
    """Processes that still run."""
    return [pid for pid in started(folder) if _runs(pid)]


def wait_for_the_end(folder: Path) -> None:
    """Check that every process ends; none of them would by itself."""
    deadline = time.monotonic() + _END_S
    while alive(folder):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
