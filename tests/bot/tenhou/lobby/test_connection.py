"""A client that reads nothing; the counters of the lobby."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from bot.tenhou.lobby.core import lobby_counts
from bot.tenhou.lobby.member import WAITING_FRAMES, LobbyConnection
from bot.tenhou.messages import EchoReply


class Deaf:
    """A socket that accepts no frame."""

    state = State.OPEN
    aborted = False

    @property
    def transport(self) -> Any:
        return self

    async def send(self, _: str) -> None:
        await asyncio.Event().wait()

    def abort(self) -> None:
        self.aborted = True


async def test_a_client_who_reads_nothing_loses_the_line() -> None:
    socket = Deaf()
    connection = LobbyConnection(cast("ServerConnection", socket), 1)
    writer = asyncio.create_task(connection.write())
    for _ in range(WAITING_FRAMES + 3):
        connection.push(EchoReply())
        await asyncio.sleep(0)
    assert socket.aborted
    assert connection.closing
    assert not connection.is_open
    writer.cancel()


def test_counters_stand_at_the_place_of_their_kind_of_table() -> None:
    counts = lobby_counts(5, queued=[(9, 1), (9, 1)], playing=[(1, 2), (64, 1)])
    assert (counts.connected, counts.queued, counts.playing) == ("5,2,2,0", ",,,,2", "2")
