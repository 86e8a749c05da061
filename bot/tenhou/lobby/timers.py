"""Calls that the lobby makes later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Timers:
    """Calls functions after a delay, until they are cancelled."""

    def __init__(self) -> None:
        self._timers: set[asyncio.TimerHandle] = set()

    def later(self, delay_s: float, call: Callable[[], None]) -> None:
        """Call a function after a delay."""

        def run() -> None:
            self._timers.discard(timer)
            call()

        timer = asyncio.get_running_loop().call_later(delay_s, run)
        self._timers.add(timer)

    def cancel(self) -> None:
        """Make no more calls."""
        for timer in self._timers:
            timer.cancel()
