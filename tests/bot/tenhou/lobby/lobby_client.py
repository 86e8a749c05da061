"""A client for tests of the lobby: it discards its draws and passes, or does what the test says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

Frame = dict[str, str]
ACCOUNT = "ID0123ABCD-aBcD5678"
OTHER = "ID0123ABCD-other999"
PATIENCE_S = 120.0


class LobbyClient:
    """One connection; all received frames are kept."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[Frame] = []
        self.gpid = ""

    async def say(self, frame: str | dict[str, Any]) -> None:
        await self.socket.send(frame if isinstance(frame, str) else json.dumps(frame))

    async def hear(self) -> Frame:
        """The next frame."""
        async with asyncio.timeout(PATIENCE_S):
            frame: Frame = json.loads(await self.socket.recv())
        self.heard.append(frame)
        self.gpid = frame.get("gpid", self.gpid)
        return frame

    async def hear_until(self, tag: str) -> Frame:
        """Read frames up to one with this tag."""
        while (frame := await self.hear())["tag"] != tag:
            pass
        return frame

    async def login(self, name: str = "NoName", gpid: str = "") -> Frame:
        """Log in; the first frame of the answer."""
        await self.say({"tag": "HELO", "name": name, "sx": "M", **({"gpid": gpid} if gpid else {})})
        return await self.hear()

    async def queue(self, ticket: str = "0,9") -> None:
        """Queue, and confirm when asked."""
        await self.say({"tag": "JOIN", "t": ticket})
        again = await self.hear_until("REJOIN")
        assert again["t"] == f"{ticket},r"
        await self.say({"tag": "JOIN", "t": again["t"]})

    async def closed(self) -> int:
        """Wait for the lobby to close the connection; the close code."""
        async with asyncio.timeout(PATIENCE_S):
            await self.socket.wait_closed()
        return self.socket.close_code or 0

    async def play(self, until: Callable[[Frame], bool] = lambda frame: "owari" in frame) -> Frame:
        """Give the simplest reply to everything until a frame satisfies the condition."""
        while True:
            frame = await self.hear()
            if until(frame):
                return frame
            reply = plain_reply(frame)
            if reply is not None:
                await self.say(reply)

    @property
    def tags(self) -> list[str]:
        return [frame["tag"] for frame in self.heard]


def plain_reply(frame: Frame) -> dict[str, Any] | None:
    """Accept, be ready, discard the drawn tile, pass."""
    tag = frame["tag"]
    if tag == "GO":
        return {"tag": "GOK"}
    if tag in ("TAIKYOKU", "AGARI", "RYUUKYOKU"):
        return {"tag": "NEXTREADY"}
    if re.fullmatch(r"T\d+", tag):
        return {"tag": "D", "p": int(tag[1:])}
    if "t" in frame and tag != "REJOIN":
        return {"tag": "N"}
    return None


@contextlib.asynccontextmanager
async def client(url: str) -> AsyncIterator[LobbyClient]:
    async with connect(url, compression=None, max_size=None) as socket:
        yield LobbyClient(socket)


async def whole_game(url: str, name: str = "NoName", ticket: str = "0,1") -> LobbyClient:
    """Play one game on its own connection."""
    async with client(url) as player:
        await player.login(name)
        await player.queue(ticket)
        await player.play()
        await player.say("<BYE/>")
    return player
