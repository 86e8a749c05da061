"""The clock of the bot: monotonic, and passed in as an argument so that tests never wait."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """A clock in seconds that never goes backwards."""

    def now(self) -> float:
        """Seconds since a fixed moment."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``; immediately if zero or less."""
        ...


class MonotonicClock:
    """The machine's monotonic clock, which counts suspended time too where the system supports it."""

    def __init__(self) -> None:
        # Linux stops CLOCK_MONOTONIC while the machine is suspended; CLOCK_BOOTTIME goes on.
        self._clock_id = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))

    def now(self) -> float:
        """Seconds since a fixed moment."""
        return time.monotonic() if self._clock_id is None else time.clock_gettime(self._clock_id)

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``; immediately if zero or less."""
        await asyncio.sleep(max(0.0, seconds))
