"""One client's connection to the lobby, with a socket that only records what is done to it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from bot.tenhou.lobby import connection as lobby_connection
from bot.tenhou.lobby.connection import LobbyConnection
from bot.tenhou.lobby.core import lobby_counts
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


def connection_over(socket: Socket) -> LobbyConnection:
    return LobbyConnection(cast("ServerConnection", socket), 1)


async def test_a_client_who_reads_nothing_loses_the_line() -> None:
    socket = Socket()
    connection = connection_over(socket)
    writer = asyncio.create_task(connection.write())
    for _ in range(lobby_connection.WAITING_FRAMES + 2):
        connection.push(EchoReply())
        await asyncio.sleep(0)
    assert socket.aborted
    assert connection.closing
    assert not connection.is_open
    connection.push(EchoReply())
    writer.cancel()


async def test_frames_queued_before_the_end_are_still_sent() -> None:
    socket = Socket()
    connection = connection_over(socket)
    connection.push(EchoReply())
    connection.close(lobby_connection.CloseCode.POLICY_VIOLATION, "enough")
    connection.push(EchoReply())
    socket.reads.set()
    await connection.write()
    assert socket.sent == ['{"tag":"ECHO"}']
    assert socket.closed == (1008, "enough")


async def test_many_illegal_frames_close_the_line_too() -> None:
    connection = connection_over(Socket())
    for _ in range(lobby_connection.REFUSED_LIMIT - 1):
        connection.count_refused()
    assert not connection.closing
    connection.count_refused()
    assert connection.closing


def test_more_frames_than_a_client_may_send_close_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby_connection, "FRAMES_PER_S", 0.0)
    connection = connection_over(Socket())
    for _ in range(lobby_connection.FRAMES_BURST):
        connection.count_frame()
    assert not connection.closing
    connection.count_frame()
    assert connection.closing


def test_counters_stand_at_the_place_of_their_kind_of_table() -> None:
    counts = lobby_counts(5, queued=[(9, 1), (9, 1)], playing=[(1, 2), (64, 1)])
    assert (counts.connected, counts.queued, counts.playing) == ("5,2,2,0", ",,,,2", "2")
