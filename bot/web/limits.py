"""Limits of a page: they leave the program the file descriptors that it needs, and keep its log short."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Final

import msgspec

if sys.platform != "win32":
    import resource

MOST: Final = 128
LEAST: Final = 8
SHARE: Final = 4
"""Connections get one `SHARE`-th of the program's file descriptors, and watching browsers one `SHARE`-th of
the connections."""
MINUTE_S: Final = 60.0


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
        message_s: time to send a request, or to read a response or a message.
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
