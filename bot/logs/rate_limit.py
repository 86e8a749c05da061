"""Rate limit for output that others can cause at will: a few times a minute; the rest is counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

WINDOW_S: Final = 60.0
LIMIT: Final = 30
"""Number of lines of one kind per window."""


class RateLimit:
    """Admits the first few of each kind in every time window.

    Args:
        limit: number per kind and window.
        window_s: length of a window.
        now: a monotonic clock.
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
        """Clear all counts."""
        self._windows.clear()
        self._left_out.clear()

    def admit(self, kind: str) -> int | None:
        """The number of the kind omitted since the last one admitted, or None if this one is omitted."""
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
        """The unreported omissions by kind; they then count as reported."""
        left_out, self._left_out = self._left_out, {}
        return left_out
