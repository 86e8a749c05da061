"""A relay between client and lobby that cuts, repeats, delays, swaps or corrupts chosen frames."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

Side = Literal["C", "S"]
CUT = object()
"""In place of a frame: cut the connection here, both ways, without a close frame."""
HALF_CUT = object()
"""The same on the client's side only: the server still considers the connection open."""

Plan = Callable[[int, Side, str], Sequence[object]]
"""Takes the number of a frame (counted in both directions, over all connections), its sender and its text;
returns what to forward instead: texts, seconds to wait, `CUT` or `HALF_CUT`."""


def unchanged(_: int, __: Side, text: str) -> Sequence[object]:
    return (text,)


def cut_after(number: int) -> Plan:
    """Cut the connection after this many frames."""
    return lambda n, _, text: (text, CUT) if n == number else (text,)


class Relay:
    """Forwards frames by a plan; keepalives pass uncounted."""

    def __init__(self, target: str, plan: Plan) -> None:
        self.frames: list[tuple[Side, str]] = []
        self.connections = 0
        self.url = ""
        self._target = target
        self._plan = plan

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Relay]:
        async with serve(
            self._relay, "127.0.0.1", 0, compression=None, ping_interval=None, close_timeout=0.2
        ) as server:
            self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/"
            yield self

    async def _relay(self, client: ServerConnection) -> None:
        self.connections += 1
        async with connect(
            self._target, compression=None, ping_interval=None, proxy=None, close_timeout=0.2
        ) as server:
            tasks = [
                asyncio.create_task(self._pass_on("C", client, server)),
                asyncio.create_task(self._pass_on("S", server, client)),
            ]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            cuts = [task.result() for task in tasks if task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if HALF_CUT in cuts:
                client.transport.abort()
                await server.wait_closed()
            elif CUT in cuts:
                client.transport.abort()
                server.transport.abort()

    async def _pass_on(
        self,
        side: Side,
        source: ClientConnection | ServerConnection,
        target: ClientConnection | ServerConnection,
    ) -> object:
        """How the plan cut the connection, None if it ended otherwise."""
        try:
            while True:
                text = str(await source.recv())
                if text == "<Z/>":
                    await target.send(text)
                    continue
                self.frames.append((side, text))
                for item in self._plan(len(self.frames), side, text):
                    if item is CUT or item is HALF_CUT:
                        return item
                    if isinstance(item, float):
                        await asyncio.sleep(item)
                    else:
                        await target.send(str(item))
        except ConnectionClosed:
            return None
