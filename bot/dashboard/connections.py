"""The dashboard's connections: limited in number, and none may keep us waiting for long.

All file descriptors of the program come from one pool. Descriptors taken by clients that open connections
would be missing when the game reconnects or its record is written.
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
"""Connections get one `SHARE`-th of the program's file descriptors, and watching browsers one `SHARE`-th of
the connections."""
GRACE_S: Final = 0.2
"""Time a connection has to send a request before it can be closed in favour of another one."""
RETRY_S: Final = 0.5
MINUTE_S: Final = 60.0

log = structlog.get_logger(__name__)


def most_connections() -> int:
    """The maximum number of connections that leaves enough descriptors for everything else."""
    if sys.platform == "win32":
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, max(LEAST, soft // SHARE))


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for each browser, and for all together.

    Attributes:
        connections: maximum number at a time.
        request_s: time to send a whole request, from the connection or the last response on.
        answer_s: time to receive a response.
        message_s: time to receive a message on a WebSocket.
        ping_s: time between two pings on a WebSocket, and to answer one.
    """

    connections: int = msgspec.field(default_factory=most_connections)
    request_s: float = 10.0
    answer_s: float = 60.0
    message_s: float = 10.0
    ping_s: float = 20.0

    @property
    def watching(self) -> int:
        """The maximum number of watching browsers, low enough that others can still load a page."""
        return max(1, self.connections // SHARE)


class Connections:
    """Accepts connections, and closes those whose peers keep us waiting.

    If there are too many, the one that has waited longest for its peer is closed in favour of the new one.

    Args:
        limits: limits on connections and time.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[asyncio.Transport, float] = {}  # waiting since; the longest first
        self._working: set[asyncio.Transport] = set()
        self._changed = asyncio.Event()
        self._crowded = Seldom()
        self._refused = Seldom()

    def __len__(self) -> int:
        """The number of open connections."""
        return len(self._waiting) + len(self._working)

    async def serve(self, listening: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        """Accept connections until cancelled.

        Args:
            listening: a non-blocking socket.
            protocol: creates the protocol of each connection, which reports its progress to us.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._close_late())
            tasks.create_task(self._accept(listening, protocol))

    def waits(self, transport: asyncio.Transport) -> None:
        """Note that we wait for the peer to send or receive something."""
        self._working.discard(transport)
        self._waiting.pop(transport, None)
        self._waiting[transport] = time.monotonic()
        self._changed.set()

    def works(self, transport: asyncio.Transport) -> None:
        """Note that the peer waits for us, or that this is a WebSocket, which has its own limits."""
        if self._waiting.pop(transport, None) is not None:
            self._working.add(transport)

    def lost(self, transport: asyncio.Transport) -> None:
        """Note that the connection is closed."""
        self._waiting.pop(transport, None)
        self._working.discard(transport)
        self._changed.set()

    def abort(self) -> None:
        """Close all connections, whatever their state."""
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
            except OSError as exc:  # no descriptor is left, or the peer has already disconnected
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
                        hint="more connections are opened than used; those without requests are closed first",
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
    """Limits the log lines about an event that can happen a thousand times a second to one a minute.

    Args:
        now: a clock in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = now()
        self._count = 0

    def due(self) -> int:
        """Count an event; return the count since the last line if a line is due, else 0."""
        self._count += 1
        if self._now() < self._next:
            return 0
        self._next = self._now() + MINUTE_S
        count, self._count = self._count, 0
        return count


class SeldomLogged(logging.Filter):
    """Passes one line a minute of those logged at one place in a library."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[tuple[str, int], Seldom] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is due."""
        return bool(self._places.setdefault((record.pathname, record.lineno), Seldom()).due())
