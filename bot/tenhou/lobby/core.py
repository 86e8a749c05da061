"""A local lobby that speaks Tenhou's protocol: the built-in default server, the demo and the test server.

Any number of clients may log in; built-in players take the empty seats. With a seed, whole games repeat,
including seats and walls, if the answers are the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import numpy as np
import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from bot.player.worker import WorkerThread
from bot.tenhou import messages as m
from bot.tenhou.game_types import GameType, refusal
from bot.tenhou.lobby.admission import refusal_of
from bot.tenhou.lobby.connection import LobbyConnection
from bot.tenhou.lobby.counts import lobby_counts
from bot.tenhou.lobby.lobby_table import LobbyTable
from bot.tenhou.lobby.member import Member, Register
from bot.tenhou.lobby.seat_clock import clock_of
from bot.tenhou.lobby.settings import LobbySettings, check
from bot.tenhou.lobby.tabletop import SeatInfo, Tabletop
from game.actions import Action
from game.errors import LoginRejected, RemoteProtocolError
from game.observation import Observation
from game.table import Table
from policies.decision import decide
from policies.heuristic.player import HeuristicPolicy
from replays.record import JAPAN, GameRecord, game_id

TYPE_REFUSED: Final = "9001"
"""Our own code: this lobby does not support the game type. Tenhou's codes are 1001 to 1027."""
GAMES_REFUSED: Final = "9002"
"""Our own code: a game started on this connection is still running."""
TOURNAMENT_UNKNOWN: Final = "1019"

MAX_FRAME_BYTES: Final = 16 * 1024
"""A client's longest frame is its login, a few hundred bytes."""
MAX_CONNECTIONS: Final = 256
MAX_GAMES: Final = 64
"""Concurrent games; further tables wait until one ends."""
REFUSALS_LOGGED: Final = 20
BUILT_IN: Final = ("Genbu", "Seiryuu", "Byakko")
PRACTICE_NAME: Final = "COM"

_TICKET: Final = re.compile(r"([0-9]{1,5}),([0-9]{1,4})(,r)?")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_TOURNAMENT: Final = re.compile(r"C([0-9]{4})[0-9]{4}")

__all__ = ["Lobby", "LobbySettings"]

Handler: TypeAlias = "Callable[[Lobby, LobbyConnection, Member, Any], None]"

_log = structlog.get_logger(__name__, side="lobby")


class Lobby:
    """The server; use it as an async context manager."""

    def __init__(
        self,
        settings: LobbySettings | None = None,
        on_record: Callable[[GameRecord], object] | None = None,
    ) -> None:
        """Prepare a lobby; entering it opens the port.

        Args:
            settings: settings of the lobby.
            on_record: called with the record of each finished game, on a separate thread.

        Raises:
            ConfigError: the host is not on this machine, or a number is out of range.
        """
        self.settings = settings or LobbySettings()
        check(self.settings)
        self.games = 0
        self.seed = secrets.randbits(63) if self.settings.seed is None else self.settings.seed
        self._on_record = on_record
        self._server: Server | None = None
        self._register = Register(self.settings.rejected_ids)
        self._connections: set[LobbyConnection] = set()
        self._connections_seen = 0
        self._refused = 0
        self._tables: set[LobbyTable] = set()
        self._queue: list[Member] = []
        self._timers: set[asyncio.TimerHandle] = set()
        self._saving: set[asyncio.Task[None]] = set()
        self._finishing = False
        self._idle = asyncio.Event()
        self._policy = HeuristicPolicy()
        self._worker: WorkerThread | None = None

    # --- opening and closing -------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._serve,
            self.settings.host,
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
        for table in self._tables:
            table.close()
        for timer in self._timers:
            timer.cancel()
        self._server.close()
        await self._server.wait_closed()
        if self._worker is not None:
            self._worker.close()
        await self.records_saved()
        _log.info("lobby.closed", games=self.games)

    async def finish(self) -> None:
        """Start no further games, and wait for the running ones to end."""
        self._finishing = True
        if self._tables:
            await self._idle.wait()

    async def records_saved(self) -> None:
        """Wait until the records of all finished games have been passed on."""
        while self._saving:
            await asyncio.wait(self._saving)

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None, "the lobby is not open"
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def url(self) -> str:
        """Where clients connect."""
        host = self.settings.host
        return f"ws://{f'[{host}]' if ':' in host else host}:{self.port}/"

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
                self._take(connection, text)
                if connection.closing:
                    break
            else:
                self._heard(connection.member)  # the client closed the connection
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
            connection.count_garbage()
            return
        try:
            self._dispatch(connection, message)
        except RemoteProtocolError as exc:
            _log.warning("proto.rejected", line=connection.number, reason=exc.reason)
            connection.count_refused()

    def _dispatch(self, connection: LobbyConnection, message: m.ClientMessage) -> None:
        if isinstance(message, m.UnknownRequest):
            _log.warning("proto.unknown_tag", line=connection.number, tag=message.tag)
            connection.count_refused()
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
        self._leave_queue(member)
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
        old.push(m.ServerError("1004"))
        self._gone(old)
        old.close(CloseCode.POLICY_VIOLATION, "logged in elsewhere")

    def _log_out(self, connection: LobbyConnection, member: Member, _: m.Leave) -> None:
        self._heard(member)
        table = member.table
        connection.member = member.connection = None
        self._leave_queue(member)
        if table is not None and member.in_game:
            table.drop(member, for_good=True)

    # --- lobby requests ------------------------------------------------------------------------------

    def _counts(self) -> m.LobbyCounts:
        playing = [(table.tabletop.game_type.number, len(table.members)) for table in self._tables]
        queued = [(member.ticket[1], 1) for member in self._queue if member.ticket is not None]
        return lobby_counts(len(self._connections), queued, playing)

    def _keep_alive(self, connection: LobbyConnection, member: Member, _: m.ClientMessage) -> None:
        # The real server answers keepalives with the counters, but not during a game.
        if not member.in_game:
            connection.push(self._counts())

    def _move(self, connection: LobbyConnection, _: Member, message: m.MoveLobby) -> None:
        if not _NUMBER.fullmatch(message.lobby):
            raise RemoteProtocolError("a lobby's number has up to four digits")
        connection.push(m.ChatLine(lobby=message.lobby))

    def _tournament(self, connection: LobbyConnection, _: Member, message: m.JoinTournament) -> None:
        if not _TOURNAMENT.fullmatch(message.lobby):
            connection.push(m.ServerError(TOURNAMENT_UNKNOWN))
            return
        connection.push(m.TournamentInfo((("lobby", message.lobby), ("title", m.percent("Suzaku")))))

    def _date(self, connection: LobbyConnection, _: Member, __: m.AskDate) -> None:
        connection.push(m.DateReply(datetime.now(JAPAN).strftime("%Y%m%d%H%M%S")))

    def _echo(self, connection: LobbyConnection, _: Member, __: m.AskEcho) -> None:
        connection.push(m.EchoReply())

    # --- the queue -----------------------------------------------------------------------------------

    def _join(self, connection: LobbyConnection, member: Member, message: m.Queue) -> None:
        if member.in_game:
            raise RemoteProtocolError("JOIN during a game")
        self._heard(member)
        if not message.ticket:
            self._leave_queue(member)
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
            self._leave_queue(member)
            member.ticket = ticket
            self._queue.append(member)
            if self.settings.wait_s is not None:
                self._later(self.settings.wait_s, lambda: self._match(ticket, at_least=1))
            self._tell_waiting(ticket)
        self._match(ticket, self.settings.clients_per_table)
        if member.ticket is not None:
            self._later(self.settings.requeue_s, lambda: self._ask_again(member, connection))

    def _ask_again(self, member: Member, connection: LobbyConnection) -> None:
        if member.ticket is not None and member.connection is connection:
            connection.push(m.QueueAgain(f"{member.ticket[0]},{member.ticket[1]},r"))

    def _leave_queue(self, member: Member) -> None:
        ticket, member.ticket = member.ticket, None
        if ticket is not None and member in self._queue:
            self._queue.remove(member)
            self._tell_waiting(ticket)

    def _tell_waiting(self, ticket: tuple[int, int]) -> None:
        """Tell the clients waiting for a table how many they are, while there are too few."""
        seats = self._seats_for(GameType(ticket[1]))
        waiting = [member for member in self._queue if member.ticket == ticket]
        if not 0 < len(waiting) < seats:
            return
        _log.info("table.waiting", kind=str(GameType(ticket[1])), players=len(waiting), of=seats)
        for member in waiting:
            if member.connection is not None:
                member.connection.push(m.ChatLine(text=f"waiting, {len(waiting)} of {seats}"))

    def _seats_for(self, game_type: GameType) -> int:
        """The number of clients that a table of this type needs to start."""
        return 1 if game_type.is_practice else self.settings.clients_per_table

    def _match(self, ticket: tuple[int, int], at_least: int) -> None:
        """Start a table if enough clients wait for it."""
        if self._finishing or len(self._tables) >= MAX_GAMES:
            return
        lobby, number = ticket
        game_type = GameType(number)
        seats = self._seats_for(game_type)
        waiting = [member for member in self._queue if member.ticket == ticket][:seats]
        if waiting and len(waiting) >= min(at_least, seats):
            for member in waiting:
                self._queue.remove(member)
            self._begin(game_type, lobby, waiting)

    def _match_all(self) -> None:
        for ticket in {member.ticket for member in self._queue if member.ticket is not None}:
            self._match(ticket, self.settings.clients_per_table)

    def _later(self, delay_s: float, call: Callable[[], None]) -> None:
        def run() -> None:
            self._timers.discard(timer)
            call()

        timer = asyncio.get_running_loop().call_later(delay_s, run)
        self._timers.add(timer)

    # --- games ---------------------------------------------------------------------------------------

    def _begin(self, game_type: GameType, lobby: int, members: Sequence[Member]) -> None:
        self.games += 1
        rng = np.random.default_rng([self.seed, self.games])
        players = [int(player) for player in rng.permutation(4)][: len(members)]
        seed, dice_seed = (int(number) for number in rng.integers(1 << 62, size=2))
        seats = self._seats(game_type, dict(zip(players, members, strict=True)))
        names = (seats[0].name, seats[1].name, seats[2].name, seats[3].name)
        tabletop = Tabletop(
            Table(seed=seed, length=game_type.length, names=names),
            game_type,
            seats,
            self.settings.clock or clock_of(game_type),
            game_id=game_id(datetime.now(UTC), game_type.number, lobby, secrets.randbits(32)),
            lobby=lobby,
            dice_seed=dice_seed,
        )
        table = LobbyTable(tabletop, members, self._decider(game_type), self.settings.delay_s, self._finished)
        self._tables.add(table)
        for player, member in zip(players, members, strict=True):
            member.sit_down(table, player)
            if member.connection is not None:
                member.connection.table = table
        _log.info(
            "game.started", game_id=tabletop.game_id, game=self.games, seed=self.seed, kind=str(game_type)
        )
        table.open()

    def _seats(self, game_type: GameType, members: dict[int, Member]) -> list[SeatInfo]:
        built_in = iter((PRACTICE_NAME,) * 3 if game_type.is_practice else BUILT_IN)
        seats = []
        for player in range(4):
            member = members.get(player)
            if member is None:
                seats.append(SeatInfo(next(built_in), sex="C"))
                continue
            # Practice tables give no resume code; an account rejoins by its id.
            code = "" if game_type.is_practice else self._register.give_code(member)
            seats.append(SeatInfo(member.name, is_client=True, resume_code=code, sex=member.sex))
        return seats

    def _decider(self, game_type: GameType) -> Callable[..., asyncio.Future[Action]]:
        policy, length = self._policy, game_type.length

        def decide_for(view: np.void, player: int, legal: Sequence[Action]) -> asyncio.Future[Action]:
            if self._worker is None or not self._worker.alive:
                self._worker = WorkerThread("lobby players")
            observation = Observation(view, player, tuple(legal), length)
            return self._worker.submit(lambda: decide(observation, policy).action)

        return decide_for

    def _finished(self, table: LobbyTable) -> None:
        self._tables.discard(table)
        if self._finishing and not self._tables:
            self._idle.set()
        self._later(0, self._match_all)  # clients may be waiting because there were too many games
        for member in table.members:
            member.unheard = True
            forget = functools.partial(self._forget, member, table.tabletop.game_id)
            self._later(self.settings.retell_s, forget)
        record = table.tabletop.record()
        ending = record.ending
        _log.info("game.ended", game_id=record.game_id, scores=ending and ending.scores, rounds=record.rounds)
        if self._on_record is not None:
            task = asyncio.create_task(self._hand_over(record))
            self._saving.add(task)
            task.add_done_callback(self._saving.discard)

    def _heard(self, member: Member | None) -> None:
        """Note that the member knows that the game is over."""
        if member is not None and member.unheard:
            self._register.game_over(member)

    def _forget(self, member: Member, game_id: str) -> None:
        if member.table is not None and member.table.tabletop.game_id == game_id:
            self._heard(member)

    async def _hand_over(self, record: GameRecord) -> None:
        assert self._on_record is not None
        try:
            await asyncio.to_thread(self._on_record, record)
        except Exception:  # task root: the lobby goes on if a record cannot be saved
            _log.exception("record.unsaved", game_id=record.game_id)

    def _play(self, _: LobbyConnection, member: Member, message: m.ClientMessage) -> None:
        if isinstance(message, m.Ready):
            self._heard(member)
        if member.table is not None and member.has_seat:
            member.table.receive(member, message)
        elif not isinstance(message, m.Ready | m.AcceptMatch):
            raise RemoteProtocolError(f"{type(message).__name__} outside a game")


_HANDLERS: Final[dict[type[m.ClientMessage], Handler]] = {
    m.Leave: Lobby._log_out,
    m.KeepAlive: Lobby._keep_alive,
    m.ShowStatistics: Lobby._keep_alive,
    m.MoveLobby: Lobby._move,
    m.JoinTournament: Lobby._tournament,
    m.AskDate: Lobby._date,
    m.AskEcho: Lobby._echo,
    m.Queue: Lobby._join,
    m.AcceptMatch: Lobby._play,
    m.Ready: Lobby._play,
    m.DiscardTile: Lobby._play,
    m.DeclareRiichi: Lobby._play,
    m.Respond: Lobby._play,
}
"""Frames with no entry (chat, spectating, the web client's files) are ignored."""
