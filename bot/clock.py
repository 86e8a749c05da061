"""Time as the bot sees it: one monotonic clock, handed in, so that tests never wait."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Seconds that only ever go forward."""

    def now(self) -> float:
        """Seconds since some fixed moment."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``; at once for zero or less."""
        ...


class MonotonicClock:
    """The machine's monotonic clock, counting the time it was asleep where the system can tell."""

    def __init__(self) -> None:
        # Linux stops CLOCK_MONOTONIC while a laptop sleeps, so a nap would go unseen; CLOCK_BOOTTIME goes on.
        self._clock_id = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))

    def now(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic() if self._clock_id is None else time.clock_gettime(self._clock_id)

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``; at once for zero or less."""
        await asyncio.sleep(max(0.0, seconds))
