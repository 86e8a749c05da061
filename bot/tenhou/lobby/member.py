"""The members of the lobby: accounts by their id, guests by their resume code."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final

from bot.tenhou.messages import Login
from bot.tenhou.names import is_guest_name
from kit.errors import LoginRejected

if TYPE_CHECKING:
    from bot.tenhou.lobby.connection import LobbyConnection
    from bot.tenhou.lobby.lobby_table import LobbyTable

ID_REJECTED: Final = "1003"
ALREADY_CONNECTED: Final = "1004"

_ID: Final = re.compile(r"ID[0-9A-F]{8}-[0-9a-zA-Z]{8}")
_SEXES: Final = ("M", "F", "C")


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
            if not _ID.fullmatch(login.name):
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
