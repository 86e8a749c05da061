"""The messages sent to browsers: the running game as numbered messages, and the state of the session.

All browsers share one list, and each has a position in it. A slow or reconnected browser continues from its
position, or starts again if that is gone. So no browser has its own queue, and none can make a queue grow.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, Final, NamedTuple

import msgspec

MAX_BATCH: Final = 128 * 1024
"""Bytes of messages sent at once; at least one message."""
MAX_GAME: Final = 32 * 1024 * 1024
"""Bytes of messages kept per game; a hanchan has about a megabyte."""


class BrowserPosition(NamedTuple):
    """The position of a browser: the last message it has, and its version of the session state."""

    number: int
    session: int


class MessageLog:
    """The messages, on the dashboard's own event loop.

    Attributes:
        run: distinguishes this list from that of another run of the program.
        bell: set when there is something new; a new event then replaces it.
        over: whether no more messages will follow.
    """

    def __init__(self, program: str) -> None:
        self.run = secrets.token_hex(8)
        self.bell = asyncio.Event()
        self.over = False
        self._hello = _json({"type": "hello", "format": "suzaku-live/1", "run": self.run, "program": program})
        self._first = 1
        self._messages: list[bytes] = []
        self._size = 0
        self._session = b'{"type":"session"}'
        self._version = -1

    def send(self, message: dict[str, Any]) -> None:
        """Add a message; one that starts a game replaces all earlier messages."""
        number = self._first + len(self._messages)
        if message["type"] == "game":
            self._first, self._messages, self._size = number, [], 0
        if self._size > MAX_GAME:
            return
        line = _json({"seq": number} | message)
        self._size += len(line)
        self._messages.append(line)
        self._ring()

    def session(self, facts: dict[str, Any]) -> None:
        """Set the state of the session."""
        self._session = _json({"type": "session"} | facts)
        self._version += 1
        self._ring()

    def end(self) -> None:
        """End the list."""
        self.over = True
        self._ring()

    def place(self, run: str, number: str) -> BrowserPosition:
        """The position at which a browser continues that has this message of this run."""
        known = run == self.run and number.isdecimal() and len(number) < 10
        return BrowserPosition(int(number) if known else -1, -1)

    def greeting(self) -> str:
        """The first message on every connection."""
        return self._hello.decode()

    def since(self, place: BrowserPosition) -> tuple[str, BrowserPosition]:
        """The messages after a position as one JSON list, "" if there are none, and the next position."""
        lines = []
        at, size = place.number - self._first + 1, 0
        if not 0 <= at <= len(self._messages):
            lines, at = [b'{"type":"reset"}'], 0
        while at < len(self._messages) and (not size or size + len(self._messages[at]) <= MAX_BATCH):
            lines.append(self._messages[at])
            size += len(self._messages[at])
            at += 1
        version = place.session
        if at == len(self._messages) and version != self._version:
            lines.append(self._session)
            version = self._version
        after = BrowserPosition(self._first + at - 1, version)
        return (f"[{b','.join(lines).decode()}]" if lines else ""), after

    def is_past(self, place: BrowserPosition) -> bool:
        """Whether a browser at this position has everything."""
        return place == BrowserPosition(self._first + len(self._messages) - 1, self._version)

    def _ring(self) -> None:
        self.bell.set()
        self.bell = asyncio.Event()


def _json(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message)
