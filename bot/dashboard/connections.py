"""The dashboard's connections: never more than a limit, and none that keeps us waiting for long.

All descriptors of the program come from one supply. What strangers take of it by opening connections would be
missing where the game connects again or its record is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
import time
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

if sys.platform != "win32":
    import resource

MOST: Final = 128
LEAST: Final = 8
SHARE: Final = 4
"""Connections get one in so many of the descriptors that the program may have, browsers that watch one in so
many of the connections."""
GRACE_S: Final = 0.2
"""A connection is not closed for another one before it had this long to ask for something."""
RETRY_S: Final = 0.5
MINUTE_S: Final = 60.0

log = structlog.get_logger(__name__)


def most_connections() -> int:
    """How many connections there may be so that descriptors are left for everything else."""
    if sys.platform == "win32":
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(LEAST, soft // SHARE))


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one browser, and all of them together, may take.

    Attributes:
        connections: how many there may be at a time.
        request_s: for a whole request, from the connection or the last answer on.
        answer_s: for taking an answer.
        message_s: for taking what is sent on a WebSocket.
        ping_s: between two pings on a WebSocket, and for the answer to one.
    """

    connections: int = msgspec.field(default_factory=most_connections)
    request_s: float = 10.0
    answer_s: float = 60.0
    message_s: float = 10.0
    ping_s: float = 20.0

    @property
    def watching(self) -> int:
        """How many browsers may watch: so few that others can still load a page."""
        return max(1, self.connections // SHARE)


class Connections:
    """Accepts connections, and closes those whose peers let us wait.

    Where there are too many, the one that has waited longest for its peer is closed for the new one.

    Args:
        limits: of connections, and of time.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[asyncio.Transport, float] = {}  # since when; the longest first
        self._working: set[asyncio.Transport] = set()
        self._changed = asyncio.Event()
        self._crowded = Seldom()
        self._refused = Seldom()

    def __len__(self) -> int:
        """How many are open."""
        return len(self._waiting) + len(self._working)

    async def serve(self, listening: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        """Accept connections until cancelled.

        Args:
            listening: does not block.
            protocol: made for each connection; tells us how it goes.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._close_late())
            tasks.create_task(self._accept(listening, protocol))

    def waits(self, transport: asyncio.Transport) -> None:
        """It is now for the peer to send or to take something."""
        self._working.discard(transport)
        self._waiting.pop(transport, None)
        self._waiting[transport] = time.monotonic()
        self._changed.set()

    def works(self, transport: asyncio.Transport) -> None:
        """It is now for us to answer, or it is a WebSocket, which has limits of its own."""
        if self._waiting.pop(transport, None) is not None:
            self._working.add(transport)

    def lost(self, transport: asyncio.Transport) -> None:
        """The connection is closed."""
        self._waiting.pop(transport, None)
        self._working.discard(transport)
        self._changed.set()

    def abort(self) -> None:
        """Close all, whatever they are about."""
        for transport in [*self._waiting, *self._working]:
            transport.abort()

    async def _accept(self, listening: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                with contextlib.ExitStack() as stack:
                    accepted, _ = await loop.sock_accept(listening)
                    stack.callback(accepted.close)
                    await self._make_room()
                    await loop.connect_accepted_socket(protocol, accepted)
                    stack.pop_all()
            except OSError as exc:  # no descriptor is left, or the peer has gone again
                if refused := self._refused.due():
                    log.warning("dashboard.refused", times=refused, reason=exc.strerror or str(exc))
                await asyncio.sleep(RETRY_S)

    async def _make_room(self) -> None:
        while len(self) >= self._limits.connections:
            if not self._waiting:
                self._changed.clear()
                await self._changed.wait()
                continue
            longest, since = next(iter(self._waiting.items()))
            wait = since + GRACE_S - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            else:
                self._drop(longest)
                if closed := self._crowded.due():
                    log.warning(
                        "dashboard.crowded",
                        connections=self._limits.connections,
                        closed=closed,
                        hint="more are opened than are used; those that ask for nothing are closed first",
                    )

    async def _close_late(self) -> None:
        while True:
            await asyncio.sleep(self._limits.request_s / 4)
            now = time.monotonic()
            for transport, since in list(self._waiting.items()):
                taking = transport.get_write_buffer_size() > 0
                if now - since > (self._limits.answer_s if taking else self._limits.request_s):
                    self._drop(transport)

    def _drop(self, transport: asyncio.Transport) -> None:
        self.lost(transport)
        transport.abort()


class Seldom:
    """Says when something that may happen a thousand times a second is worth a line again: once a minute.

    Args:
        now: seconds on a clock.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = now()
        self._count = 0

    def due(self) -> int:
        """It has happened: how often since the last line if one is due, else 0."""
        self._count += 1
        if self._now() < self._next:
            return 0
        self._next = self._now() + MINUTE_S
        count, self._count = self._count, 0
        return count


class SeldomLogged(logging.Filter):
    """Of the lines that one place of a library logs, lets through one a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[tuple[str, int], Seldom] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is due."""
        return bool(self._places.setdefault((record.pathname, record.lineno), Seldom()).due())
