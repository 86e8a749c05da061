"""Limits on the connections of a page: they leave the program the file descriptors that it needs to play.

A listening socket accepts only as many connections as its share of the descriptors allows. When they are used
up, those that wait for their peers are closed: half-open ones, idle ones, and those whose peers read nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import math
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if sys.platform != "win32":
    import resource

MOST: Final = 128
LEAST: Final = 8
SHARE: Final = 4
"""Connections get one `SHARE`-th of the program's file descriptors, and watching browsers one `SHARE`-th of
the connections."""
GRACE_S: Final = 0.2
"""Time to send a request before a connection can be closed in favour of others."""
CLOSE_S: Final = 2.0
"""Time to read the last messages on a WebSocket."""
MINUTE_S: Final = 60.0

Peer: TypeAlias = tuple[str, int]


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
        message_s: time to receive a message on a WebSocket.
        ping_s: time between two pings on a WebSocket, and to answer one.
        messages_per_s: messages that a browser may send on a WebSocket, for as long as it goes on.
        messages_burst: messages that it may send at once.
    """

    connections: int = msgspec.field(default_factory=most_connections)
    message_s: float = 10.0
    ping_s: float = 20.0
    messages_per_s: float = 20.0
    messages_burst: int = 60

    @property
    def watching(self) -> int:
        """The maximum number of watching browsers, low enough that others can still load a page."""
        return max(1, self.connections // SHARE)


class _Connection:
    """A connection, which the event loop closes.

    Attributes:
        waits_since: when we began to wait for the peer; infinite while the peer waits for us.
    """

    def __init__(self, accepted: socket.socket) -> None:
        self.waits_since = time.monotonic()
        self._socket = accepted

    @property
    def is_open(self) -> bool:
        return self._socket.fileno() >= 0

    def drop(self) -> None:
        """Let the event loop find the connection ended, whether or not the peer reads."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Connections:
    """The open connections of a page.

    Args:
        most: maximum number.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[Peer, _Connection] = {}
        self._dropping: asyncio.TimerHandle | None = None

    def make_room(self) -> None:
        """Make sure that one more may be opened.

        Raises:
            OSError: not now; some are closed soon.
        """
        self._open = {peer: each for peer, each in self._open.items() if each.is_open}
        if len(self._open) >= self._most:
            if self._dropping is None:
                self._dropping = asyncio.get_running_loop().call_later(GRACE_S, self._drop_waiting)
            raise OSError(errno.EMFILE, f"{self._most} connections are open, and no more are allowed")

    def add(self, accepted: socket.socket, peer: Peer) -> None:
        """Add a connection, which waits for its peer."""
        if peer in self._open:  # it has connected to another of our addresses from the same port
            self._open[peer].drop()
        self._open[peer] = _Connection(accepted)

    def waits(self, peer: Peer) -> None:
        """Note that we wait for the peer to send or receive something."""
        if peer in self._open:
            self._open[peer].waits_since = time.monotonic()

    def works(self, peer: Peer) -> None:
        """Note that the peer waits for us, or that this is a WebSocket, which has its own limits."""
        if peer in self._open:
            self._open[peer].waits_since = math.inf

    def drop_later(self, peer: Peer) -> None:
        """Drop a connection that ends, in case the peer does not read its end."""
        if peer in self._open:
            asyncio.get_running_loop().call_later(CLOSE_S, self._open[peer].drop)

    def drop_all(self) -> None:
        """Drop all connections, whatever their state."""
        for each in self._open.values():
            each.drop()

    def _drop_waiting(self) -> None:
        self._dropping = None
        latest = time.monotonic() - GRACE_S
        for each in self._open.values():
            if each.waits_since <= latest:
                each.drop()


class ListeningSocket(socket.socket):
    """Accepts only as many connections as allowed; beyond them asyncio hears that no descriptor is left."""

    connections: Connections

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            OSError: not now.
        """
        self.connections.make_room()
        accepted, address = super().accept()
        self.connections.add(accepted, address[:2])
        return accepted, address


class PeerWaits:
    """ASGI middleware: notes which side of a connection waits for the other."""

    def __init__(self, app: ASGIApp, connections: Connections) -> None:
        self._app = app
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or serve a WebSocket to its end."""
        peer, connections = scope["client"] or ("", 0), self._connections

        async def receive_meanwhile_waiting() -> Message:
            connections.waits(peer)
            message = await receive()
            connections.works(peer)
            return message

        async def send_meanwhile_waiting(message: Message) -> None:
            connections.waits(peer)
            await send(message)
            connections.works(peer)

        connections.works(peer)
        try:
            if scope["type"] == "websocket":
                await self._app(scope, receive, send)
            else:
                await self._app(scope, receive_meanwhile_waiting, send_meanwhile_waiting)
        finally:
            connections.waits(peer)
            if scope["type"] == "websocket":
                connections.drop_later(peer)


class OncePerMinute:
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


class OncePerMinuteFilter(logging.Filter):
    """Passes one line a minute of those logged at one place in a library."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[tuple[str, int], OncePerMinute] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is due."""
        return bool(self._places.setdefault((record.pathname, record.lineno), OncePerMinute()).due())
