"""How often something is written that others can cause at will: a few times a minute, the rest is counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

WINDOW_S: Final = 60.0
LIMIT: Final = 30
"""So many of a kind are written in a window."""


class RateLimit:
    """Admits the first few of each kind in every window of time.

    Args:
        limit: how many of a kind.
        window_s: how long a window is.
        now: a clock that only goes forward.
    """

    def __init__(
        self, limit: int = LIMIT, window_s: float = WINDOW_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = limit
        self._window_s = window_s
        self._now = now
        self._windows: dict[str, tuple[float, int]] = {}
        self._left_out: dict[str, int] = {}

    def reset(self) -> None:
        """Forget everything."""
        self._windows.clear()
        self._left_out.clear()

    def admit(self, kind: str) -> int | None:
        """How many of the kind were left out since the last one admitted, or None if this one is left out."""
        now = self._now()
        began, count = self._windows.get(kind, (now, 0))
        if now - began >= self._window_s:
            began, count = now, 0
        if count >= self._limit:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return None
        self._windows[kind] = began, count + 1
        return self._left_out.pop(kind, 0)

    def take_left_out(self) -> dict[str, int]:
        """What was left out and not told yet, by kind; it counts as told from here on."""
        left_out, self._left_out = self._left_out, {}
        return left_out
