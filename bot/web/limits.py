"""Limits of a page: they leave the program the file descriptors that it needs."""

from __future__ import annotations

import sys
from typing import Final

import msgspec

if sys.platform != "win32":
    import resource

MOST: Final = 128
LEAST: Final = 8
SHARE: Final = 4
"""Connections get one `SHARE`-th of the program's file descriptors, and watching browsers one `SHARE`-th of
the connections."""


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
