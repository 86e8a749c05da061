"""The members of the lobby, accounts by their id, guests by their resume code, and their connections."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final, Literal

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.protocol import State

from bot.tenhou.lobby.lobby_table import LobbyTable
from bot.tenhou.messages import ALREADY_CONNECTED, Login, ServerMessage, render_json
from bot.tenhou.names import LOGIN_ID, is_guest_name
from kit.budget import Budget
from kit.errors import LoginRejected

WAITING_FRAMES: Final = 2048
"""Frames queued for a client; a whole hanchan has about 1,500."""
BAD_FRAMES: Final = {"unreadable": 5, "illegal": 200}
"""After as many, a connection is closed; a client may occasionally be late, and its frame illegal."""
FRAMES_PER_S: Final = 1000.0
"""Frames from a client, for as long as it goes on; a bot without any delay sends a hundred."""
FRAMES_BURST: Final = 2000
ID_REJECTED: Final = "1003"

_SEXES: Final = ("M", "F", "C")


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
        self._bad = dict.fromkeys(BAD_FRAMES, 0)
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
        """Count a frame; close the connection if the client sends too many."""
        if not self._budget.spend():
            self.close(CloseCode.POLICY_VIOLATION, "too many frames")

    def count(self, kind: Literal["unreadable", "illegal"]) -> None:
        """Count an unreadable or illegal frame; close the connection after too many of one kind."""
        self._bad[kind] += 1
        if self._bad[kind] >= BAD_FRAMES[kind]:
            self.close(CloseCode.POLICY_VIOLATION, f"too many {kind} frames")

    async def write(self) -> None:
        """Send queued frames until the connection ends."""
        try:
            while (text := await self._frames.get()) is not None:
                await self._socket.send(text)
            code, reason = self._close or (CloseCode.NORMAL_CLOSURE, "")
            await self._socket.close(code, reason)
        except ConnectionClosed:
            pass


class Member:
    """One player, connected or not.

    Attributes:
        name: public name.
        is_guest: logged in without an id.
        sex: as given at login.
        connection: the connection, None while disconnected.
        table: table of the current game, None between games.
        player: the member's absolute number there.
        resume_code: takes the seat back.
        ticket: what the member queues for, as ``(lobby, game type)``.
        unheard: the game is over, but the client has not yet shown that it knows.
    """

    def __init__(self, name: str, *, is_guest: bool) -> None:
        self.name = name
        self.is_guest = is_guest
        self.sex = "M"
        self.connection: LobbyConnection | None = None
        self.table: LobbyTable[Member] | None = None
        self.player = -1
        self.resume_code = ""
        self.ticket: tuple[int, int] | None = None
        self.unheard = False

    @property
    def in_game(self) -> bool:
        """Whether the member is in a running game."""
        return self.table is not None and not self.table.done

    @property
    def has_seat(self) -> bool:
        """Whether the member can return to a game, or at least to its end."""
        return self.in_game or self.unheard

    def sit_down(self, table: LobbyTable[Member], player: int) -> None:
        """Join a game."""
        self.table, self.player, self.ticket, self.unheard = table, player, None, False

    def get_up(self) -> None:
        """Leave the game; its resume code is no longer valid."""
        self.table, self.player, self.resume_code, self.unheard = None, -1, "", False


class Register:
    """All members, and the check of their logins."""

    def __init__(self) -> None:
        self._accounts: dict[str, Member] = {}
        self._by_code: dict[str, Member] = {}

    def find(self, login: Login) -> Member:
        """The member that a login belongs to.

        Raises:
            LoginRejected: the id is invalid, the code belongs to another member, or the member is
                already connected.
        """
        coded = self._by_code.get(login.resume_code) if login.resume_code else None
        if is_guest_name(login.name):
            member = coded if coded is not None and coded.has_seat else Member(login.name, is_guest=True)
            if not member.is_guest:
                raise LoginRejected("a guest sent the resume code of an account's seat", ID_REJECTED)
        else:
            if not LOGIN_ID.fullmatch(login.name):
                raise LoginRejected("the id is not valid, suspended or deleted", ID_REJECTED)
            member = self._accounts.get(login.name) or Member(
                f"Player{len(self._accounts) + 1}", is_guest=False
            )
            if coded is not None and coded is not member:
                raise LoginRejected("an account sent the resume code of another player's seat", ID_REJECTED)
            self._accounts[login.name] = member
        if member.connection is not None and member.connection.is_open and coded is not member:
            raise LoginRejected("this player is already connected", ALREADY_CONNECTED)
        member.sex = login.sex if login.sex in _SEXES else "M"
        return member

    def give_code(self, member: Member) -> str:
        """A new resume code for the seat that a member is about to take."""
        member.resume_code = f"{secrets.randbits(32):08X}-{secrets.randbits(32):08X}"
        self._by_code[member.resume_code] = member
        return member.resume_code

    def game_over(self, member: Member) -> None:
        """End a member's game."""
        self._by_code.pop(member.resume_code, None)
        member.get_up()
