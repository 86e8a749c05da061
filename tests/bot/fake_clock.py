"""A clock that tests advance by hand."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable


class FakeClock:
    def __init__(self, start: float = 1000.0) -> None:
        self._now = start
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._now + seconds, self._count, future))
        await future

    @property
    def sleeping(self) -> list[float]:
        """Remaining seconds of each sleeper."""
        return sorted(due - self._now for due, _, future in self._sleepers if not future.done())

    async def advance(self, seconds: float) -> None:
        """Let time pass, waking sleepers in order and letting each run."""
        end = self._now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, future = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not future.done():
                future.set_result(None)
                await settle()
        self._now = end
        await settle()

    def jump(self, seconds: float) -> None:
        """Simulate a suspended machine: time has passed without waking any sleeper."""
        self._now += seconds


async def settle(turns: int = 20) -> None:
    """Let everything that is ready run."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object], tries: int = 120_000) -> None:
    """Wait in real time for something on a socket or a thread, checking every millisecond."""
    for _ in range(tries):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("the condition never became true")
