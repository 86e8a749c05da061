"""One open connection: reads, writes, sends keepalives and checks for silence until it ends.

It depends on neither WebSocket nor mahjong; the connection is passed in as a `Wire`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from bot.player.clock import Clock
from kit.errors import ConnectionLost

TICK_S: Final = 1.0
JUMP_S: Final = 10.0
"""A tick this much too long means the machine was suspended, and the server has gone on without us."""
OUTGOING_LIMIT: Final = 64
"""Frames waiting to be sent; far more than a game needs, so a full queue means the server does not read."""


class Wire(Protocol):
    """The methods of a WebSocket that a `TenhouConnection` uses."""

    async def recv(self) -> str | bytes:
        """The next frame."""
        ...

    async def send(self, message: str, /) -> None:
        """Send one text frame."""
        ...


class TenhouConnection:
    """Runs one connection; everything happens on the event loop.

    Args:
        wire: the connection.
        clock: measures time.
        keepalive_s: seconds between keepalives.
        keepalive: sends one, through `post`.
        patience_s: returns how long the server may currently be silent.
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

    def post(self, frame: str | None) -> None:
        """Queue a frame without waiting. If the server does not read our frames, the connection ends.

        After None, `run` returns once everything posted so far is sent.
        """
        try:
            self._outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self._overflow.set()

    async def run(self, on_frame: Callable[[str | bytes], None]) -> None:
        """Pass every frame to ``on_frame`` until None is posted, or something fails; then raise the error."""
        tasks = [
            asyncio.create_task(coroutine, name=f"connection.{name}")
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

    async def _read(self, on_frame: Callable[[str | bytes], None]) -> None:
        while True:
            frame = await self._wire.recv()
            self.heard_at = self._clock.now()
            on_frame(frame)
            # A flood of frames must not block the other tasks: recv returns at once while frames are queued.
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
        raise ConnectionLost("the server does not read our frames")

    async def _watch(self) -> None:
        while True:
            before = self._clock.now()
            await self._clock.sleep(TICK_S)
            now = self._clock.now()
            if now - before > TICK_S + JUMP_S:
                raise ConnectionLost(f"this machine was suspended for {now - before:.0f} s")
            if now - self.heard_at > self._patience_s():
                raise ConnectionLost(f"nothing received for {now - self.heard_at:.0f} s")
