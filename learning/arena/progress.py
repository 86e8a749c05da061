"""How far a run has come: a bar on a terminal, a log line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Final, TextIO

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from learning.arena.run import Tell

EVERY_S: Final = 10.0

_log = structlog.get_logger(__name__)


@contextlib.contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Tell]:
    """What `run` may tell of its progress.

    Args:
        stream: where a bar is drawn if it is a terminal, else stderr.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield _Lines().tell
        return
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(file=stream), transient=True) as bar:
        yield _Bar(bar).tell


class _Speed:
    """Games a second since the first word, those of earlier runs left out."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._before = 0

    def at(self, games: int) -> float:
        now = time.monotonic()
        if self._began is None:
            self._began, self._before = now, games
        return (games - self._before) / max(now - self._began, 1e-9)


class _Bar:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, speed="")
        self._speed = _Speed()

    def tell(self, games: int, of: int) -> None:
        speed = f"{self._speed.at(games):.2f}/s"
        self._bar.update(self._task, completed=games, total=of, speed=speed)


class _Lines:
    def __init__(self) -> None:
        self._speed = _Speed()
        self._next = time.monotonic() + EVERY_S

    def tell(self, games: int, of: int) -> None:
        speed = self._speed.at(games)
        if time.monotonic() >= self._next and speed > 0:
            self._next = time.monotonic() + EVERY_S
            _log.info(
                "arena.progress",
                games=games,
                of=of,
                games_per_s=round(speed, 2),
                left_s=round((of - games) / speed),
            )
