"""A line on the terminal that says how far a training run is, how fast, and how long it will take."""

from __future__ import annotations

import sys
import time
from typing import Final, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

_SMOOTHING: Final = 0.02
_LINE_EVERY_S: Final = 30.0
"""Where there is no terminal a bar is of no use; a line now and then is."""


class Progress:
    """A bar on a terminal, lines in a log.

    Args:
        title: what is trained.
        total: samples in all.
        done: of them before this start.
        quiet: show nothing.
    """

    def __init__(self, title: str, total: int, done: int, *, quiet: bool = False) -> None:
        self._title, self._total, self._done, self._first = title, total, done, done
        self._quiet = quiet
        self._console = Console(stderr=True)
        self._loss = 0.0
        self._validation = ""
        self._begun = self._said = time.monotonic()
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}/s"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, completed=done, speed="-")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def speed(self) -> float:
        """Samples per second since this start."""
        return (self._done - self._first) / max(1e-9, time.monotonic() - self._begun)

    def advance(self, samples: int, loss: float) -> None:
        """Count samples learned from.

        Args:
            samples: of the last step.
            loss: its mean.
        """
        self._done += samples
        self._loss = loss if not self._loss else self._loss + _SMOOTHING * (loss - self._loss)
        text = f"{self._title}  loss {self._loss:.4f}{self._validation}"
        self._bar.update(self._task, completed=self._done, description=text, speed=f"{self.speed:,.0f}")
        if time.monotonic() - self._said > _LINE_EVERY_S:
            self._line(text)

    def validated(self, accuracy: float, loss: float) -> None:
        """Show a validation of one of the five models."""
        self.found(f"{accuracy:.2%}, loss {loss:.4f}")

    def found(self, text: str) -> None:
        """Show what a validation gave."""
        self._validation = f"  validation {text}"
        self._line(f"{self._title}  loss {self._loss:.4f}{self._validation}")

    def _line(self, text: str) -> None:
        self._said = time.monotonic()
        if self._quiet or self._console.is_terminal:
            return
        left = max(0, self._total - self._done) / max(1e-9, self.speed)
        part = f"{self._done:,} of {self._total:,}"
        print(f"{text}  {part}  {self.speed:,.0f}/s  {left / 60:.0f} min left", file=sys.stderr, flush=True)
