"""Show a running game on a terminal: the table at the bottom, log lines scrolling above it."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

REFRESH_S: Final = 0.1
JOIN_S: Final = 2.0
LINES_MAX: Final = 10_000
"""Log lines that may queue for a terminal that does not read; further ones are dropped."""


class LiveTable:
    """Keeps the table on screen up to date, and replaces stderr meanwhile.

    A separate thread does all the writing, from copies of the state: neither drawing nor a terminal that does
    not read delays an answer, and log lines and the table never mix.
    """

    def __init__(self, terminal: TextIO, refresh_s: float = REFRESH_S) -> None:
        self._terminal = terminal
        self._refresh_s = refresh_s
        self._picture: Callable[[], RenderableType] | None = None
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._ending = False
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="live table", daemon=True)
        self._stderr: TextIO | None = None

    def update(self, picture: Callable[[], RenderableType]) -> None:
        """Show this soon; of several updates within a tenth of a second only the last is shown.

        Args:
            picture: draws the table, from a copy of the state; called on another thread.
        """
        with self._changed:
            self._picture = picture
            self._changed.notify()

    def say(self, line: str) -> None:
        """Print a line above the table."""
        with self._changed:
            if self._failed:
                self._terminal.write(line + "\n")
            elif len(self._lines) < LINES_MAX:
                self._lines.append(line)
                self._changed.notify()

    def __enter__(self) -> Self:
        self._stderr, sys.stderr = sys.stderr, _Lines(self)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join(JOIN_S)
        assert self._stderr is not None
        sys.stderr = self._stderr

    def _run(self) -> None:
        console = Console(file=self._terminal)
        try:
            with Live(
                console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            ) as live:
                while self._draw(live, console):
                    pass
        except Exception as exc:  # task root: if the terminal fails, the game goes on without the table
            with self._changed:
                self._failed = True
                left, self._lines = self._lines, []
            for line in (*left, f"the table can no longer be shown: {type(exc).__name__}: {exc}"):
                self.say(line)

    def _draw(self, live: Live, console: Console) -> bool:
        """Wait for updates and show them; return whether more can follow."""
        with self._changed:
            while self._picture is None and not self._lines and not self._ending:
                self._changed.wait()
            lines, self._lines = self._lines, []
            picture, self._picture = self._picture, None
            ending = self._ending
        for line in lines:
            console.print(Text.from_ansi(line))
        if picture is not None:
            live.update(picture(), refresh=True)
        if not ending:
            with self._changed:
                self._changed.wait_for(lambda: self._ending, self._refresh_s)
        return not ending


class _Lines(io.TextIOBase):
    """Replaces stderr, and passes complete lines on."""

    def __init__(self, table: LiveTable) -> None:
        self._table = table
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._table.say(line)
        return len(text)

    def isatty(self) -> bool:
        return True
