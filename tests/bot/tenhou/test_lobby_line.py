"""One client's connection to the lobby, with a socket that only records what is done to it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from bot.tenhou.lobby import line as lobby_line
from bot.tenhou.lobby.counts import lobby_counts
from bot.tenhou.lobby.line import Line
from bot.tenhou.messages import EchoReply


class Socket:
    """Accepts frames only when told to."""

    def __init__(self) -> None:
        self.state = State.OPEN
        self.sent: list[str] = []
        self.closed: tuple[int, str] | None = None
        self.aborted = False
        self.reads = asyncio.Event()
        self.transport: Any = self

    async def send(self, text: str) -> None:
        await self.reads.wait()
        self.sent.append(text)

    async def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def abort(self) -> None:
        self.aborted = True


def line_over(socket: Socket) -> Line:
    return Line(cast("ServerConnection", socket), 1)


async def test_a_client_who_reads_nothing_loses_the_line() -> None:
    socket = Socket()
    line = line_over(socket)
    writer = asyncio.create_task(line.write())
    for _ in range(lobby_line.WAITING_FRAMES + 2):
        line.push(EchoReply())
        await asyncio.sleep(0)
    assert socket.aborted
    assert line.closing
    assert not line.is_open
    line.push(EchoReply())
    writer.cancel()


async def test_frames_queued_before_the_end_are_still_sent() -> None:
    socket = Socket()
    line = line_over(socket)
    line.push(EchoReply())
    line.close(lobby_line.CloseCode.POLICY_VIOLATION, "enough")
    line.push(EchoReply())
    socket.reads.set()
    await line.write()
    assert socket.sent == ['{"tag":"ECHO"}']
    assert socket.closed == (1008, "enough")


async def test_many_illegal_frames_close_the_line_too() -> None:
    line = line_over(Socket())
    for _ in range(lobby_line.REFUSED_LIMIT - 1):
        line.count_refused()
    assert not line.closing
    line.count_refused()
    assert line.closing


def test_counters_stand_at_the_place_of_their_kind_of_table() -> None:
    counts = lobby_counts(5, queued=[(9, 1), (9, 1)], playing=[(1, 2), (64, 1)])
    assert (counts.connected, counts.queued, counts.playing) == ("5,2,2,0", ",,,,2", "2")
