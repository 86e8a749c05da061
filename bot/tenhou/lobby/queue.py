"""The clients that wait for a table."""

from __future__ import annotations

import re
from typing import Final

import structlog

from bot.tenhou import messages as m
from bot.tenhou.game_types import GameType, refusal
from bot.tenhou.lobby.games import LobbyGames, LobbySettings, Timers
from bot.tenhou.lobby.member import LobbyConnection, Member
from kit.errors import RemoteProtocolError

TYPE_REFUSED: Final = "9001"
"""Our own code: this lobby does not support the game type. Tenhou's codes are 1001 to 1027."""
GAMES_REFUSED: Final = "9002"
"""Our own code: a game started on this connection is still running."""

_TICKET: Final = re.compile(r"([0-9]{1,5}),([0-9]{1,4})(,r)?")

_log = structlog.get_logger(__name__, side="lobby")


class WaitingQueue:
    """The queue; a table starts once enough of its clients want the same game.

    Args:
        settings: settings of the lobby.
        games: starts the tables.
        timers: for clients that wait long.
    """

    def __init__(self, settings: LobbySettings, games: LobbyGames, timers: Timers) -> None:
        self._settings = settings
        self._games = games
        self._timers = timers
        self._members: list[Member] = []

    @property
    def tickets(self) -> list[tuple[int, int]]:
        """Lobby and game type of each waiting member."""
        return [member.ticket for member in self._members if member.ticket is not None]

    def join(self, connection: LobbyConnection, member: Member, message: m.Queue) -> None:
        """Handle a request to queue, to stay queued or to leave the queue.

        Raises:
            RemoteProtocolError: the member is in a game.
        """
        if member.in_game:
            raise RemoteProtocolError("JOIN during a game")
        self._games.heard(member)
        if not message.ticket:
            self.leave(member)
            return
        found = _TICKET.fullmatch(message.ticket)
        reason = refusal(int(found[2])) if found else "the ticket is not LOBBY,TYPE"
        if found is None or reason is not None:
            _log.warning("table.refused", line=connection.number, ticket=message.ticket, reason=reason)
            connection.push(m.ServerError(TYPE_REFUSED))
            return
        ticket = (int(found[1]), int(found[2]))
        if connection.has_game:
            _log.warning(
                "table.refused",
                line=connection.number,
                reason="a game started on this connection is still running",
            )
            connection.push(m.ServerError(GAMES_REFUSED))
            return
        if not found[3]:
            connection.push(m.QueueAgain(f"{ticket[0]},{ticket[1]},r"))
            return
        if member.ticket != ticket:
            self.leave(member)
            member.ticket = ticket
            self._members.append(member)
            self._tell_waiting(ticket)
        self._match(ticket)
        if member.ticket is not None:
            self._timers.later(self._settings.requeue_s, lambda: self._ask_again(member, connection))

    def _ask_again(self, member: Member, connection: LobbyConnection) -> None:
        if member.ticket is not None and member.connection is connection:
            connection.push(m.QueueAgain(f"{member.ticket[0]},{member.ticket[1]},r"))

    def leave(self, member: Member) -> None:
        """Take a member out of the queue."""
        ticket, member.ticket = member.ticket, None
        if ticket is not None and member in self._members:
            self._members.remove(member)
            self._tell_waiting(ticket)

    def _tell_waiting(self, ticket: tuple[int, int]) -> None:
        """Tell the clients waiting for a table how many they are, while there are too few."""
        seats = self._seats_for(GameType(ticket[1]))
        waiting = [member for member in self._members if member.ticket == ticket]
        if not 0 < len(waiting) < seats:
            return
        _log.info("table.waiting", kind=str(GameType(ticket[1])), players=len(waiting), of=seats)
        for member in waiting:
            if member.connection is not None:
                member.connection.push(m.ChatLine(text=f"waiting, {len(waiting)} of {seats}"))

    def _seats_for(self, game_type: GameType) -> int:
        """The number of clients that a table of this type needs to start."""
        return 1 if game_type.is_practice else self._settings.clients_per_table

    def _match(self, ticket: tuple[int, int]) -> None:
        """Start a table if enough clients wait for it."""
        if not self._games.may_begin:
            return
        lobby, number = ticket
        game_type = GameType(number)
        seats = self._seats_for(game_type)
        waiting = [member for member in self._members if member.ticket == ticket][:seats]
        if len(waiting) == seats:
            for member in waiting:
                self._members.remove(member)
            self._games.begin(game_type, lobby, waiting)

    def match_all(self) -> None:
        """Start every table for which enough clients wait."""
        for ticket in {member.ticket for member in self._members if member.ticket is not None}:
            self._match(ticket)
