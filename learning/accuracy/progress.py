"""How far a measurement is: a bar on a terminal, now and then a log line elsewhere."""

from __future__ import annotations

import time
from typing import Final, Self

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

_LINE_EVERY_S: Final = 10.0
_log = structlog.get_logger(__name__)


class Progress:
    """Counts what is done.

    Args:
        title: what is measured.
        total: of it.
        unit: what is counted.
        quiet: show nothing.
    """

    def __init__(self, title: str, total: int, unit: str, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        self._title, self._total, self._unit = title, total, unit
        self._done = 0
        self._begun = self._said = time.monotonic()
        self._lines = not quiet and not console.is_terminal
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(f"{unit}, {{task.fields[speed]}}/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, speed="-")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def advance(self, done: int) -> None:
        """Count so many more."""
        self._done += done
        now = time.monotonic()
        speed = round(self._done / max(1e-9, now - self._begun))
        self._bar.update(self._task, completed=self._done, speed=f"{speed:,}")
        if self._lines and now - self._said > _LINE_EVERY_S:
            self._said = now
            _log.info(
                "eval.progress",
                what=self._title,
                done=self._done,
                total=self._total,
                unit=self._unit,
                per_s=speed,
            )
