"""Shows progress and the remaining time: as a bar on a terminal, elsewhere as regular log lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from typing import Final, Self, TextIO

import structlog
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

EVERY_S: Final = 10.0
"""Seconds between two log lines."""

_SMOOTHING: Final = 0.02
_COMPILING: Final = "compiling"
"""Name of a note."""

_log = structlog.get_logger(__name__)


class NotedBar(Bar):
    """A bar with a line of notes under it, where they never push the count off a narrow terminal."""

    notes = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and the notes if there are any."""
        yield from super().get_renderables()
        if self.notes:
            yield Text(f"  {self.notes}", style="dim", no_wrap=True, overflow="ellipsis")


class Progress:
    """Counts completed work.

    Args:
        event: name of the log event.
        title: name of the work.
        unit: unit of the count.
        total: final count; None if `reach` gives it.
        done: count before this start; None if the first `reach` gives it.
        quiet: show nothing.
        stream: where to draw a bar if it is a terminal, else stderr.
    """

    def __init__(
        self,
        event: str,
        title: str,
        unit: str,
        *,
        total: int | None = None,
        done: int | None = 0,
        quiet: bool = False,
        stream: TextIO | None = None,
    ) -> None:
        self._event, self._title, self._unit, self._total = event, title, unit, total
        self._first, self._done = done, done or 0
        self._notes: dict[str, str] = {}
        self._begun = self._said = time.monotonic()
        console = Console(file=stream or sys.stderr)
        self._lines = not quiet and not console.is_terminal
        self._bar = NotedBar(
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
        self._task = self._bar.add_task(title, total=total, completed=self._done, speed="-")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_saying, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._bar.start()
        if self._lines:
            self.say()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        if self._lines:
            self._ended.set()
            self._thread.join()

    @property
    def speed(self) -> float:
        """Units per second since this start."""
        return (self._done - (self._first or 0)) / max(1e-9, time.monotonic() - self._begun)

    def advance(self, count: int) -> None:
        """Add to the count."""
        self.reach(self._done + count)

    def reach(self, done: int, total: int | None = None) -> None:
        """Set the count.

        Args:
            done: including earlier starts.
            total: if it is known by now.
        """
        if self._first is None:
            self._first, self._begun = done, time.monotonic()
        self._done, self._total = done, total or self._total
        self._show()
        if time.monotonic() - self._said >= EVERY_S:
            self.say()

    def note(self, **notes: str) -> None:
        """Show notes beside the count; a note replaces the earlier one of the same name."""
        self._notes = self._notes | notes  # another thread may be reading the old ones
        self._show()

    def say(self) -> None:
        """Write a log line now, if there is no terminal and the count is known."""
        self._said = time.monotonic()
        if not self._lines or self._first is None:
            return
        left = max(0, (self._total or self._done) - self._done)
        _log.info(
            self._event,
            what=self._title,
            done=self._done,
            total=self._total,
            unit=self._unit,
            per_s=float(f"{self.speed:.3g}"),
            left_s=round(left / self.speed) if self.speed else None,
            **self._notes,
        )

    def _keep_saying(self) -> None:
        """Write a line whenever there has been none for a while: a single step may take minutes."""
        while not self._ended.wait(max(0.0, self._said + EVERY_S - time.monotonic())):
            if time.monotonic() - self._said >= EVERY_S:
                self.say()

    def _show(self) -> None:
        self._bar.notes = "  ".join(f"{name} {text}" for name, text in self._notes.items())
        self._bar.update(
            self._task,
            completed=self._done,
            total=self._total,
            speed=f"{self.speed:,.{0 if self.speed >= 100 else 2}f}",
        )


class TrainingProgress(Progress):
    """Counts samples learned from, and shows the loss.

    Args:
        title: the model in training.
        unit: unit of the count.
        total: all samples.
        done: samples before this start.
        quiet: show nothing.
    """

    def __init__(self, title: str, unit: str, total: int, done: int, *, quiet: bool = False) -> None:
        super().__init__("train.progress", title, unit, total=total, done=done, quiet=quiet)
        self._loss = 0.0

    def learned(self, samples: int, loss: float) -> None:
        """Count the samples of a step.

        Args:
            samples: number of samples in the step.
            loss: mean loss of the step.
        """
        self._notes = {name: text for name, text in self._notes.items() if name != _COMPILING}
        self._loss = loss if not self._loss else self._loss + _SMOOTHING * (loss - self._loss)
        self.note(loss=f"{self._loss:.4f}")
        self.advance(samples)

    @property
    def compiles(self) -> bool:
        """Whether a kernel has been compiled since the last step."""
        return _COMPILING in self._notes

    def compiling(self, kernel: str) -> None:
        """Show the kernel that the next step waits for."""
        self.note(**{_COMPILING: kernel})

    def validated(self, text: str) -> None:
        """Show the result of a validation."""
        self.note(validation=text)
        self.say()
