from __future__ import annotations

import asyncio

import pytest

from bot.tenhou.client.connection import OUTGOING_LIMIT, TenhouConnection
from kit.errors import ConnectionLost
from tests.bot.fake_clock import FakeClock, settle


class MemoryWire:
    def __init__(self) -> None:
        self.incoming: asyncio.Queue[str | bytes | Exception] = asyncio.Queue()
        self.sent: list[str] = []
        self.reads_nothing = False

    async def recv(self) -> str | bytes:
        item = await self.incoming.get()
        if isinstance(item, Exception):
            raise item
        return item

    async def send(self, message: str, /) -> None:
        if self.reads_nothing:
            await asyncio.Event().wait()
        self.sent.append(message)


def make(patience_s: float = 30.0) -> tuple[TenhouConnection, MemoryWire, FakeClock, list[str | bytes]]:
    wire, clock = MemoryWire(), FakeClock()
    connection = TenhouConnection(wire, clock, 10.0, lambda: connection.post("<Z/>"), lambda: patience_s)
    return connection, wire, clock, []


async def test_frames_arrive_in_order_and_replies_go_out() -> None:
    connection, wire, _, seen = make()
    running = asyncio.create_task(connection.run(seen.append))
    for text in "abc":
        wire.incoming.put_nowait(text)
    connection.post("x")
    await settle()
    assert seen == ["a", "b", "c"]
    assert wire.sent == ["x"]
    connection.post("last")
    connection.end()
    await running
    assert wire.sent == ["x", "last"]


async def test_it_says_every_ten_seconds_that_it_is_there() -> None:
    connection, wire, clock, seen = make(patience_s=1e9)
    running = asyncio.create_task(connection.run(seen.append))
    await clock.advance(35)
    assert wire.sent == ["<Z/>"] * 3
    connection.end()
    await running


async def test_silence_ends_it_only_when_patience_is_over() -> None:
    connection, wire, clock, seen = make(patience_s=30)
    running = asyncio.create_task(connection.run(seen.append))
    await clock.advance(25)
    wire.incoming.put_nowait("still here")
    await clock.advance(29)
    assert not running.done()
    await clock.advance(3)
    with pytest.raises(ConnectionLost, match="nothing received"):
        await running


async def test_a_machine_that_slept_gives_the_line_up() -> None:
    connection, _, clock, seen = make(patience_s=1e9)
    running = asyncio.create_task(connection.run(seen.append))
    await clock.advance(5)
    clock.jump(600)
    await clock.advance(2)
    with pytest.raises(ConnectionLost, match="was suspended"):
        await running


async def test_a_server_that_does_not_read_ends_it() -> None:
    connection, wire, _, seen = make()
    wire.reads_nothing = True
    running = asyncio.create_task(connection.run(seen.append))
    await settle()
    for _ in range(OUTGOING_LIMIT + 2):
        connection.post("x")
    with pytest.raises(ConnectionLost, match="does not read"):
        await running


async def test_what_a_frame_raises_ends_it_and_leaves_no_task() -> None:
    connection, wire, _, _ = make()

    def refuse(_: str | bytes) -> None:
        raise ConnectionLost("no more")

    before = asyncio.all_tasks()
    wire.incoming.put_nowait("a")
    with pytest.raises(ConnectionLost, match="no more"):
        await connection.run(refuse)
    assert asyncio.all_tasks() == before


async def test_a_flood_does_not_starve_the_other_tasks() -> None:
    connection, wire, _, seen = make()
    for n in range(2000):
        wire.incoming.put_nowait(str(n))
    running = asyncio.create_task(connection.run(seen.append))
    connection.post("reply")
    await settle(20)
    assert wire.sent == ["reply"]
    assert 0 < len(seen) < 2000
    connection.end()
    await running
