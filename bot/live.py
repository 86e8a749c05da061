"""Shows a running game: the live table on a terminal, or nothing but the log elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Final, NamedTuple, Self

import numpy as np
import structlog
from rich.console import Console
from rich.live import Live

from bot.console import render
from game.state import clone
from policies.decision import Decision

REFRESH_S: Final = 0.1
JOIN_S: Final = 2.0

log = structlog.get_logger(__name__)


class _Picture(NamedTuple):
    record: np.void
    player: int
    names: Sequence[str]
    decision: Decision | None


class LiveTable:
    """Keeps the table on a terminal up to date; log lines scroll by above it.

    It is drawn on a thread of its own from copies of the state, so that neither drawing nor a terminal that
    does not read ever delays an answer.
    """

    def __init__(self, console: Console, refresh_s: float = REFRESH_S) -> None:
        self._console = console
        self._refresh_s = refresh_s
        self._next: _Picture | None = None
        self._changed = threading.Condition()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="live table", daemon=True)

    def update(self, record: np.void, player: int, names: Sequence[str], decision: Decision | None) -> None:
        """Show this soon; what comes within the same tenth of a second is shown as one."""
        picture = _Picture(clone(record), player, tuple(names), decision)
        with self._changed:
            self._next = picture
            self._changed.notify()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        with self._changed:
            self._changed.notify()
        self._thread.join(JOIN_S)

    def _draw(self) -> None:
        try:
            with Live(console=self._console, auto_refresh=False) as live:
                while True:
                    picture = self._take()
                    if picture is not None:
                        live.update(render(*picture), refresh=True)
                    if self._ending.wait(0 if picture is None else self._refresh_s) and self._next is None:
                        return
        except Exception:  # task root: a terminal that fails costs the picture, not the game
            log.exception("table.failed", hint="the game goes on without its picture")

    def _take(self) -> _Picture | None:
        with self._changed:
            while self._next is None and not self._ending.is_set():
                self._changed.wait()
            picture, self._next = self._next, None
            return picture
