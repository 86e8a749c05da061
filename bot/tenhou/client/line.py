"""One open connection: reads, writes, keeps alive and watches the time, until something ends it.

It knows no WebSocket and no mahjong; the connection is handed in as a `Wire`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from bot.clock import Clock
from game.errors import ConnectionLost

TICK_S: Final = 1.0
JUMP_S: Final = 10.0
"""A tick this much too long means the machine slept, and the server has long gone on without us."""
OUTGOING_LIMIT: Final = 64
"""Frames waiting to be sent; far more than a game needs, so a full queue is a server that does not read."""


class Wire(Protocol):
    """What a line needs of a connection."""

    async def recv(self) -> str | bytes:
        """The next frame."""
        ...

    async def send(self, message: str, /) -> None:
        """Send one text frame."""
        ...


class Line:
    """Runs one connection; everything happens on the event loop.

    Args:
        wire: the connection.
        clock: time.
        keepalive_s: how often to say that we are still there.
        keepalive: says it, through `post`.
        patience_s: how long silence is fine at this moment.
    """

    def __init__(
        self,
        wire: Wire,
        clock: Clock,
        keepalive_s: float,
        keepalive: Callable[[], None],
        patience_s: Callable[[], float],
    ) -> None:
        self.heard_at = clock.now()
        self._wire = wire
        self._clock = clock
        self._keepalive_s = keepalive_s
        self._keepalive = keepalive
        self._patience_s = patience_s
        self._outgoing: asyncio.Queue[str | None] = asyncio.Queue(OUTGOING_LIMIT)
        self._overflow = asyncio.Event()

    def post(self, frame: str) -> None:
        """Queue a frame; never waits. A server that does not read what we send ends the line."""
        self._put(frame)

    def end(self) -> None:
        """Let `run` return once everything posted so far is sent."""
        self._put(None)

    async def run(self, on_frame: Callable[[str | bytes], None]) -> None:
        """Hand every frame to ``on_frame`` until `end`, or until something fails; that is raised."""
        tasks = [
            asyncio.create_task(coroutine, name=f"line.{name}")
            for name, coroutine in (
                ("read", self._read(on_frame)),
                ("write", self._write()),
                ("keepalive", self._keep_alive()),
                ("watch", self._watch()),
                ("overflow", self._end_on_overflow()),
            )
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finished = [task for task in tasks if task.done()]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in finished:
            task.result()

    def _put(self, frame: str | None) -> None:
        try:
            self._outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self._overflow.set()

    async def _read(self, on_frame: Callable[[str | bytes], None]) -> None:
        while True:
            frame = await self._wire.recv()
            self.heard_at = self._clock.now()
            on_frame(frame)
            # A flood must not keep the other tasks from running: recv returns at once while frames wait.
            await asyncio.sleep(0)

    async def _write(self) -> None:
        while (frame := await self._outgoing.get()) is not None:
            await self._wire.send(frame)

    async def _keep_alive(self) -> None:
        while True:
            await self._clock.sleep(self._keepalive_s)
            self._keepalive()

    async def _end_on_overflow(self) -> None:
        await self._overflow.wait()
        raise ConnectionLost("the server does not read what we send")

    async def _watch(self) -> None:
        while True:
            before = self._clock.now()
            await self._clock.sleep(TICK_S)
            now = self._clock.now()
            if now - before > TICK_S + JUMP_S:
                raise ConnectionLost(f"this machine stood still for {now - before:.0f} s")
            if now - self.heard_at > self._patience_s():
                raise ConnectionLost(f"nothing heard for {now - self.heard_at:.0f} s")
