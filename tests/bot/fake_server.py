"""A server on loopback that follows a script for each connection, faults included."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response


@dataclass
class Say:
    """Send one frame: text, or bytes for a binary one."""

    frame: str | bytes


@dataclass
class Hear:
    """Read the client's frames up to one with this tag; keepalives and statistics are skipped."""

    tag: str


@dataclass
class Echo:
    """Confirm the last discard received."""


@dataclass
class Flood:
    """Send the same frame many times."""

    frame: str
    times: int


@dataclass
class Drop:
    """Cut the connection, without a close frame or with a close code."""

    code: int | None = None


@dataclass
class Half:
    """Begin a frame, stop in its middle and cut the connection."""

    text: str


@dataclass
class Linger:
    """Read incoming frames for at most this much real time."""

    seconds: float = 0.02


@dataclass
class Hang:
    """Send nothing more, with the socket open, until the client leaves."""


@dataclass
class Refuse:
    """Instead of a script: answer the handshake with this HTTP status."""

    status: int = 503


@dataclass
class Redirect:
    """Instead of a script: redirect the handshake."""

    url: str


Step = Say | Hear | Echo | Flood | Drop | Half | Linger | Hang
Script = Sequence[Step]

ALWAYS_PASSED_OVER = ("Z", "PXR")


def tag_of(frame: str) -> str:
    """The tag of a client's frame in either format."""
    if frame.startswith("{"):
        return str(json.loads(frame)["tag"])
    return frame.strip("</> ").split()[0]


class FakeServer:
    """Runs one script per connection; when none is left, answers 503."""

    def __init__(self, *scripts: Script | Refuse | Redirect) -> None:
        self.scripts = list(scripts)
        self.received: list[list[str]] = []
        self.requests: list[Request] = []
        self.faults: list[BaseException] = []
        self._server: Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}/"

    @property
    def handshakes(self) -> int:
        return len(self.requests)

    def tags(self, connection: int = -1) -> list[str]:
        """Tags that one connection sent, without keepalives."""
        if not self.received:
            return []
        return [t for t in map(tag_of, self.received[connection]) if t not in ALWAYS_PASSED_OVER]

    async def up(self) -> None:
        """Listen, on the same port each time."""
        self._server = await serve(
            self._converse,
            "127.0.0.1",
            self._port,
            process_request=self._answer_handshake,
            compression=None,
            ping_interval=None,
            close_timeout=0.2,
            max_size=None,
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]

    async def down(self) -> None:
        """Stop listening: connections are refused."""
        self._server.close()
        await self._server.wait_closed()

    def _answer_handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if not self.scripts:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "no more scripts\n")
        script = self.scripts.pop(0)
        if isinstance(script, Refuse):
            return connection.respond(HTTPStatus(script.status), "go away\n")
        if isinstance(script, Redirect):
            response = connection.respond(HTTPStatus.FOUND, "over there\n")
            response.headers["Location"] = script.url
            return response
        connection.script = script  # type: ignore[attr-defined]
        return None

    async def _converse(self, connection: ServerConnection) -> None:
        received: list[str] = []
        self.received.append(received)
        script: Script = connection.script  # type: ignore[attr-defined]
        try:
            for step in script:
                await self._play(connection, step, received)
        except ConnectionClosed:
            pass  # the client may leave at any time; the test checks what it sent
        except Exception as exc:  # kept for the test to find
            self.faults.append(exc)
            raise

    async def _play(self, connection: ServerConnection, step: Step, received: list[str]) -> None:
        match step:
            case Say(frame):
                await connection.send(frame)
            case Hear(tag):
                while True:
                    received.append(str(await connection.recv()))
                    heard = tag_of(received[-1])
                    if heard == tag:
                        break
                    if heard not in ALWAYS_PASSED_OVER:
                        raise AssertionError(f"expected {tag}, heard {received[-1]}")
            case Echo():
                discarded = next(frame for frame in reversed(received) if tag_of(frame) == "D")
                await connection.send(json.dumps({"tag": f"D{json.loads(discarded)['p']}"}))
            case Flood(frame, times):
                for _ in range(times):
                    await connection.send(frame)
            case Drop(None):
                connection.transport.abort()
                await connection.wait_closed()
            case Drop(code):
                await connection.close(code or 1000)
            case Half(text):
                data = text.encode()
                assert len(data) < 65536
                connection.transport.write(
                    b"\x81\x7e" + len(data).to_bytes(2, "big") + data[: len(data) // 2]
                )
                await asyncio.sleep(0.005)
                connection.transport.abort()
                await connection.wait_closed()
            case Linger(seconds):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        while True:
                            received.append(str(await connection.recv()))
            case Hang():
                while True:
                    received.append(str(await connection.recv()))


@contextlib.asynccontextmanager
async def fake_server(*scripts: Script | Refuse | Redirect) -> AsyncIterator[FakeServer]:
    """A running fake server."""
    server = FakeServer(*scripts)
    await server.up()
    try:
        yield server
    finally:
        await server.down()
    assert not server.faults, server.faults


def free_port() -> int:
    """An unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
