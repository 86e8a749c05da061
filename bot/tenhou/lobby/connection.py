"""One client's connection to the lobby: sends frames in order, counts invalid ones, drops slow readers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.protocol import State

from bot.tenhou.messages import ServerMessage, render_json
from kit.budget import Budget

if TYPE_CHECKING:
    from bot.tenhou.lobby.lobby_table import LobbyTable
    from bot.tenhou.lobby.member import Member

WAITING_FRAMES: Final = 2048
"""Frames queued for a client; a whole hanchan has about 1,500."""
GARBAGE_LIMIT: Final = 5
REFUSED_LIMIT: Final = 200
"""Frames that are readable but not legal; a client may occasionally be late."""
FRAMES_PER_S: Final = 1000.0
"""Frames from a client, for as long as it goes on; a bot without any delay sends a hundred."""
FRAMES_BURST: Final = 2000


class LobbyConnection:
    """One WebSocket connection.

    Attributes:
        member: logged in on it, None before and after.
        table: table of the last game started on it, None before.
        number: serial number of the connection, for the log.
    """

    def __init__(self, socket: ServerConnection, number: int) -> None:
        self.member: Member | None = None
        self.table: LobbyTable[Member] | None = None
        self.number = number
        self._socket = socket
        self._garbage = 0
        self._refused = 0
        self._budget = Budget(FRAMES_BURST, FRAMES_PER_S)
        self._close: tuple[CloseCode, str] | None = None
        self._frames: asyncio.Queue[str | None] = asyncio.Queue(WAITING_FRAMES)

    @property
    def is_open(self) -> bool:
        """Whether the connection is open."""
        return self._close is None and self._socket.state is State.OPEN

    @property
    def has_game(self) -> bool:
        """Whether a game started on it is still running, with or without its member."""
        return self.table is not None and not self.table.done

    @property
    def closing(self) -> bool:
        """Whether the lobby is closing this connection."""
        return self._close is not None

    def push(self, message: ServerMessage) -> None:
        """Queue a frame; a client that does not read is disconnected."""
        if self._close is not None:
            return
        try:
            self._frames.put_nowait(render_json(message))
        except asyncio.QueueFull:
            # The client does not read, so a closing handshake would never end.
            self._close = (CloseCode.TRY_AGAIN_LATER, "frames are not read")
            self._socket.transport.abort()

    def close(self, code: CloseCode, reason: str) -> None:
        """Send what is queued, then close."""
        if self._close is None:
            self._close = (code, reason)
            if self._frames.full():
                self._frames.get_nowait()
            self._frames.put_nowait(None)

    def count_frame(self) -> None:
        """Count a frame; of a client that sends too many, the connection is closed."""
        if not self._budget.spend():
            self.close(CloseCode.POLICY_VIOLATION, "too many frames")

    def count_garbage(self) -> None:
        """Count an unreadable frame; after a few, the connection is closed."""
        self._garbage += 1
        if self._garbage >= GARBAGE_LIMIT:
            self.close(CloseCode.POLICY_VIOLATION, "too many unreadable frames")

    def count_refused(self) -> None:
        """Count a frame that is not legal; after many, the connection is closed."""
        self._refused += 1
        if self._refused >= REFUSED_LIMIT:
            self.close(CloseCode.POLICY_VIOLATION, "too many illegal frames")

    async def write(self) -> None:
        """Send queued frames until the connection ends."""
        try:
            while (text := await self._frames.get()) is not None:
                await self._socket.send(text)
            code, reason = self._close or (CloseCode.NORMAL_CLOSURE, "")
            await self._socket.close(code, reason)
        except ConnectionClosed:
            pass
