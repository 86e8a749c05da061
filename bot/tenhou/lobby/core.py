"""A local lobby that speaks Tenhou's protocol: the built-in default server, the demo and the test server.

Any number of clients may log in; built-in players take the empty seats. With a seed, whole games repeat,
including seats and walls, if the answers are the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from bot.tenhou import messages as m
from bot.tenhou.gate import host_name, parse_url
from bot.tenhou.lobby.games import LobbyGames, LobbySettings, Timers, WaitingQueue
from bot.tenhou.lobby.member import LobbyConnection, Member, Register
from bot.tenhou.messages import LobbyCounts
from kit.errors import LoginRejected, RemoteProtocolError
from replays.record import JAPAN, GameRecord

_ROOMS: Final = {0: 0, 128: 16, 32: 32, 160: 48}
"""Index of a room's first game type in the comma list; four rule sets, then hanchan, then fast."""


def place_of(game_type: int) -> int:
    """Index of a four-player game type in the list.

    >>> [place_of(number) for number in (1, 9, 65, 137, 225)]
    [0, 4, 8, 20, 56]
    """
    room = _ROOMS[game_type & 160]
    return room + 8 * bool(game_type & 64) + 4 * bool(game_type & 8) + (game_type >> 1 & 3)


def lobby_counts(
    connected: int, queued: Iterable[tuple[int, int]], playing: Iterable[tuple[int, int]]
) -> LobbyCounts:
    """The frame.

    Args:
        connected: number of open connections.
        queued: game types, each with the number of clients waiting for it.
        playing: game types, each with the number of clients playing it.
    """
    queued, playing = list(queued), list(playing)
    waiting, seated = sum(n for _, n in queued), sum(n for _, n in playing)
    return LobbyCounts(
        connected=f"{connected},{connected - seated},{waiting},0",
        queued=_listed(queued),
        playing=_listed(playing),
    )


def _listed(counts: list[tuple[int, int]]) -> str:
    totals: dict[int, int] = {}
    for game_type, number in counts:
        if game_type & 1:
            totals[place_of(game_type)] = totals.get(place_of(game_type), 0) + number
    return ",".join(str(totals.get(place, "")) for place in range(max(totals, default=-1) + 1))


TENHOU_PAGE: Final = "https://tenhou.net"

_SHOWN: Final = 100


def refusal_of(headers: Headers, own_host: str = "") -> str | None:
    """Why a handshake is refused, None if it is accepted.

    A browser truthfully reports the origin of a page (``Origin``) and the name it requested (``Host``), so no
    other page can start games here, nor can a page whose name was made to resolve to this machine.

    Args:
        headers: headers of its request.
        own_host: another name of this machine under which clients may request the lobby, empty for none.
    """
    for origin in headers.get_all("Origin"):
        scheme, _, page = origin.partition("://")
        if origin != TENHOU_PAGE and not (scheme in ("http", "https") and _is_here(page)):
            return f"pages of {origin[:_SHOWN]!r} may not play here (Origin)"
    hosts = headers.get_all("Host")
    if len(hosts) != 1 or not _is_here(hosts[0], own_host):
        return f"connect to this lobby as 127.0.0.1 or localhost, not as {', '.join(hosts)[:_SHOWN]!r} (Host)"
    return None


def _is_here(text: str, own_host: str = "") -> bool:
    """Whether ``host`` or ``host:port`` is this machine, or the configured ``own_host``."""
    server = None if "/" in text else parse_url(f"ws://{text}")
    if server is None:
        return False
    return server.is_here or bool(own_host and server.host == host_name(own_host))


TOURNAMENT_UNKNOWN: Final = "1019"

MAX_FRAME_BYTES: Final = 16 * 1024
"""A client's longest frame is its login, a few hundred bytes."""
MAX_CONNECTIONS: Final = 256
REFUSALS_LOGGED: Final = 20

_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_TOURNAMENT: Final = re.compile(r"C([0-9]{4})[0-9]{4}")

Handler: TypeAlias = "Callable[[Lobby, LobbyConnection, Member, Any], None]"

_log = structlog.get_logger(__name__, side="lobby")


class Lobby:
    """The server; use it as an async context manager."""

    def __init__(
        self, settings: LobbySettings | None = None, on_record: Callable[[GameRecord], object] | None = None
    ) -> None:
        """Prepare a lobby; entering it opens the port.

        Args:
            settings: settings of the lobby.
            on_record: called with the record of each finished game but practice, on a separate thread.
        """
        self.settings = settings or LobbySettings()
        self.seed = secrets.randbits(63) if self.settings.seed is None else self.settings.seed
        self._server: Server | None = None
        self._register = Register()
        self._connections: set[LobbyConnection] = set()
        self._connections_seen = 0
        self._refused = 0
        self._timers = Timers()
        self._games = LobbyGames(
            self.settings, self.seed, self._register, self._timers, on_record, self._match_all
        )
        self._queue = WaitingQueue(self.settings, self._games, self._timers)

    # --- opening and closing -------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            self.settings.port,
            compression=None,
            max_size=MAX_FRAME_BYTES,
            max_queue=64,
            server_header=None,
            process_request=self._admit,
        )
        _log.info("lobby.opened", url=self.url, seed=self.seed)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._games.stop()
        self._timers.cancel()
        self._server.close()
        await self._server.wait_closed()
        await self._games.close()
        _log.info("lobby.closed", games=self.games)

    async def finish(self) -> None:
        """Start no further games, and wait for the running ones to end."""
        await self._games.finish()

    async def records_saved(self) -> None:
        """Wait until the records of all finished games have been passed on."""
        await self._games.records_saved()

    @property
    def games(self) -> int:
        """Number of games started."""
        return self._games.count

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None, "the lobby is not open"
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"ws://127.0.0.1:{self.port}/"

    # --- connections ---------------------------------------------------------------------------------

    def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """Check a handshake; return the response that refuses it, or None to accept it."""
        reason = refusal_of(request.headers, self.settings.own_host)
        if reason is None:
            return None
        self._refused += 1
        if self._refused <= REFUSALS_LOGGED:
            _log.warning("line.refused", reason=reason, count=self._refused)
        return socket.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")

    async def _serve(self, socket: ServerConnection) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            await socket.close(CloseCode.TRY_AGAIN_LATER, "the lobby is full")
            return
        self._connections_seen += 1
        connection = LobbyConnection(socket, self._connections_seen)
        self._connections.add(connection)
        writer = asyncio.create_task(connection.write())
        login = asyncio.get_running_loop().call_later(self.settings.login_s, self._close_idle, connection)
        try:
            async for text in socket:
                connection.count_frame()
                if not connection.closing:
                    self._take(connection, text)
                if connection.closing:
                    break
            else:
                self._games.heard(connection.member)  # the client closed the connection
        except ConnectionClosed:
            pass
        finally:
            login.cancel()
            self._connections.discard(connection)
            self._gone(connection)
            connection.close(CloseCode.NORMAL_CLOSURE, "")
            with contextlib.suppress(asyncio.CancelledError):
                await writer

    def _close_idle(self, connection: LobbyConnection) -> None:
        if connection.member is None:
            connection.close(CloseCode.POLICY_VIOLATION, "no login")

    def _take(self, connection: LobbyConnection, text: str | bytes) -> None:
        """Handle one frame from a client."""
        try:
            if isinstance(text, bytes):
                raise RemoteProtocolError("a binary frame")
            message = m.parse_client(text)
        except RemoteProtocolError as exc:
            _log.warning("proto.rejected", line=connection.number, reason=str(exc))
            connection.count("unreadable")
            return
        try:
            self._dispatch(connection, message)
        except RemoteProtocolError as exc:
            _log.warning("proto.rejected", line=connection.number, reason=exc.reason)
            connection.count("illegal")

    def _dispatch(self, connection: LobbyConnection, message: m.ClientMessage) -> None:
        if isinstance(message, m.UnknownRequest):
            _log.warning("proto.unknown_tag", line=connection.number, tag=message.tag)
            connection.count("illegal")
        elif isinstance(message, m.Login):
            self._log_in(connection, message)
        elif isinstance(message, m.KeepAlive) and connection.member is None:
            pass
        elif connection.member is None:
            raise RemoteProtocolError(f"{type(message).__name__} before the login")
        elif handler := _HANDLERS.get(type(message)):
            handler(self, connection, connection.member, message)

    def _gone(self, connection: LobbyConnection) -> None:
        member = connection.member
        connection.member = None
        if member is None or member.connection is not connection:
            return
        member.connection = None
        self._queue.leave(member)
        if member.table is not None and member.in_game:
            member.table.drop(member)

    # --- logging in and out --------------------------------------------------------------------------

    def _log_in(self, connection: LobbyConnection, login: m.Login) -> None:
        if connection.member is not None:
            raise RemoteProtocolError("HELO on a connection that is logged in")
        try:
            member = self._register.find(login)
        except LoginRejected as exc:
            _log.warning("login.rejected", line=connection.number, code=exc.code, reason=str(exc))
            connection.push(m.ServerError(exc.code))
            return
        self._take_over(member)
        connection.member, member.connection = member, connection
        _log.info("login.accepted", line=connection.number, name=member.name, resumes=member.has_seat)
        if member.table is not None and member.has_seat:
            member.table.resume(member)
            return
        connection.push(m.Hello(member.name))
        connection.push(self._counts())

    def _take_over(self, member: Member) -> None:
        """Close an older connection of the member: the resume code takes precedence."""
        old = member.connection
        if old is None:
            return
        _log.warning("session.replaced", line=old.number, name=member.name)
        old.push(m.ServerError(m.ALREADY_CONNECTED))
        self._gone(old)
        old.close(CloseCode.POLICY_VIOLATION, "logged in elsewhere")

    def _log_out(self, connection: LobbyConnection, member: Member, _: m.Leave) -> None:
        self._games.heard(member)
        table = member.table
        connection.member = member.connection = None
        self._queue.leave(member)
        if table is not None and member.in_game:
            table.drop(member, for_good=True)

    # --- lobby requests ------------------------------------------------------------------------------

    def _counts(self) -> m.LobbyCounts:
        playing = [(table.tabletop.game_type.number, len(table.members)) for table in self._games.tables]
        queued = [(game_type, 1) for _, game_type in self._queue.tickets]
        return lobby_counts(len(self._connections), queued, playing)

    def _join(self, connection: LobbyConnection, member: Member, message: m.Queue) -> None:
        self._queue.join(connection, member, message)

    def _match_all(self) -> None:
        self._queue.match_all()

    def _keep_alive(self, connection: LobbyConnection, member: Member, _: m.ClientMessage) -> None:
        # The real server answers keepalives with the counters, but not during a game.
        if not member.in_game:
            connection.push(self._counts())

    # --- the game ------------------------------------------------------------------------------------

    def _play(self, _: LobbyConnection, member: Member, message: m.ClientMessage) -> None:
        if isinstance(message, m.Ready):
            self._games.heard(member)
        if member.table is not None and member.has_seat:
            member.table.receive(member, message)
        elif not isinstance(message, m.Ready | m.AcceptMatch):
            raise RemoteProtocolError(f"{type(message).__name__} outside a game")


def _move(_: Lobby, connection: LobbyConnection, __: Member, message: m.MoveLobby) -> None:
    if not _NUMBER.fullmatch(message.lobby):
        raise RemoteProtocolError("a lobby's number has up to four digits")
    connection.push(m.ChatLine(lobby=message.lobby))


def _tournament(_: Lobby, connection: LobbyConnection, __: Member, message: m.JoinTournament) -> None:
    if not _TOURNAMENT.fullmatch(message.lobby):
        connection.push(m.ServerError(TOURNAMENT_UNKNOWN))
        return
    connection.push(m.TournamentInfo((("lobby", message.lobby), ("title", m.percent("Suzaku")))))


def _date(_: Lobby, connection: LobbyConnection, __: Member, ___: m.AskDate) -> None:
    connection.push(m.DateReply(datetime.now(JAPAN).strftime("%Y%m%d%H%M%S")))


def _echo(_: Lobby, connection: LobbyConnection, __: Member, ___: m.AskEcho) -> None:
    connection.push(m.EchoReply())


_HANDLERS: Final[dict[type[m.ClientMessage], Handler]] = {
    m.Leave: Lobby._log_out,
    m.KeepAlive: Lobby._keep_alive,
    m.ShowStatistics: Lobby._keep_alive,
    m.MoveLobby: _move,
    m.JoinTournament: _tournament,
    m.AskDate: _date,
    m.AskEcho: _echo,
    m.Queue: Lobby._join,
    m.AcceptMatch: Lobby._play,
    m.Ready: Lobby._play,
    m.DiscardTile: Lobby._play,
    m.DeclareRiichi: Lobby._play,
    m.Respond: Lobby._play,
}
"""Frames with no entry (chat, spectating, the web client's files) are ignored."""
