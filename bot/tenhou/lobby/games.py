"""The lobby's games: who waits for one, seats and walls, built-in players, records."""

from __future__ import annotations

import asyncio
import functools
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
import numpy as np
import structlog

from bot.player.worker import WorkerThread
from bot.tenhou import messages as m
from bot.tenhou.game_types import GameType, refusal
from bot.tenhou.lobby.lobby_table import LobbyTable
from bot.tenhou.lobby.member import LobbyConnection, Member, Register
from bot.tenhou.lobby.table_seat import ClockSettings, clock_of
from bot.tenhou.lobby.tabletop import SeatInfo, new_tabletop
from game.actions import Action
from game.observation import Observation
from kit.errors import RemoteProtocolError
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from replays.record import GameRecord, game_id


class LobbySettings(msgspec.Struct, frozen=True):
    """Settings of a lobby.

    Attributes:
        port: of this machine, which only this machine can reach; 0 for any free one.
        own_host: another host name that clients may use, through the user's own tunnel or proxy.
        seed: seed of all seats and walls; None for unpredictable games.
        clients_per_table: number of queued clients that starts a table; practice tables start with one.
        delay_s: delay before built-in players answer.
        clock: replaces the clock of the game type.
        login_s: a connection without a login is closed after this time.
        requeue_s: interval at which a waiting client is asked to queue again.
    """

    port: int = 0
    own_host: str = ""
    seed: int | None = None
    clients_per_table: int = 1
    delay_s: float = 0.0
    clock: ClockSettings | None = None
    login_s: float = 30.0
    requeue_s: float = 5.0


class Timers:
    """Calls functions after a delay, until they are cancelled."""

    def __init__(self) -> None:
        self._timers: set[asyncio.TimerHandle] = set()

    def later(self, delay_s: float, call: Callable[[], None]) -> None:
        """Call a function after a delay."""

        def run() -> None:
            self._timers.discard(timer)
            call()

        timer = asyncio.get_running_loop().call_later(delay_s, run)
        self._timers.add(timer)

    def cancel(self) -> None:
        """Make no more calls."""
        for timer in self._timers:
            timer.cancel()


MAX_GAMES: Final = 64
"""Concurrent games; further tables wait until one ends."""
RETELL_S: Final = 30.0
"""Time for which a client that lost its connection can still receive the end of the game."""
BUILT_IN: Final = ("Genbu", "Seiryuu", "Byakko")
PRACTICE_NAME: Final = "COM"
TYPE_REFUSED: Final = "9001"
"""Our own code: this lobby does not support the game type. Tenhou's codes are 1001 to 1027."""
GAMES_REFUSED: Final = "9002"
"""Our own code: a game started on this connection is still running."""

_TICKET: Final = re.compile(r"([0-9]{1,5}),([0-9]{1,4})(,r)?")

_log = structlog.get_logger(__name__, side="lobby")


class LobbyGames:
    """The running games, one after another with the seats and walls of a seed.

    Args:
        settings: settings of the lobby.
        seed: determines seats and walls.
        register: gives and takes back resume codes.
        timers: for what happens some time after a game.
        on_record: called with the record of each finished game but practice, on a separate thread.
        on_end: called soon after each game.

    Attributes:
        count: number of games started.
        tables: the running games.
        finishing: whether no further games start.
    """

    def __init__(
        self,
        settings: LobbySettings,
        seed: int,
        register: Register,
        timers: Timers,
        on_record: Callable[[GameRecord], object] | None,
        on_end: Callable[[], None],
    ) -> None:
        self.count = 0
        self.tables: set[LobbyTable[Member]] = set()
        self.finishing = False
        self._settings = settings
        self._seed = seed
        self._register = register
        self._timers = timers
        self._on_record = on_record
        self._on_end = on_end
        self._saving: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._policy = HeuristicPolicy()
        self._worker: WorkerThread | None = None

    @property
    def may_begin(self) -> bool:
        """Whether another game may start."""
        return not self.finishing and len(self.tables) < MAX_GAMES

    async def finish(self) -> None:
        """Start no further games, and wait for the running ones to end."""
        self.finishing = True
        if self.tables:
            await self._idle.wait()

    def stop(self) -> None:
        """Stop the running games without finishing them."""
        for table in self.tables:
            table.close()

    async def close(self) -> None:
        """End the thread of the built-in players, and wait for the records."""
        if self._worker is not None:
            self._worker.close()
        await self.records_saved()

    async def records_saved(self) -> None:
        """Wait until the records of all finished games have been passed on."""
        while self._saving:
            await asyncio.wait(self._saving)

    def begin(self, game_type: GameType, lobby: int, members: Sequence[Member]) -> None:
        """Start a game of these members and as many built-in players as are missing."""
        self.count += 1
        rng = np.random.default_rng([self._seed, self.count])
        players = [int(player) for player in rng.permutation(4)][: len(members)]
        seats = self._seats(game_type, dict(zip(players, members, strict=True)))
        record_id = game_id(datetime.now(UTC), game_type.number, lobby, secrets.randbits(32))
        clock = self._settings.clock or clock_of(game_type)
        tabletop = new_tabletop(rng, game_type, seats, clock, record_id, lobby)
        table = LobbyTable(
            tabletop, members, self._decider(game_type), self._settings.delay_s, self._finished
        )
        self.tables.add(table)
        for player, member in zip(players, members, strict=True):
            member.sit_down(table, player)
            if member.connection is not None:
                member.connection.table = table
        _log.info(
            "game.started", game_id=tabletop.game_id, game=self.count, seed=self._seed, kind=str(game_type)
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

    def _finished(self, table: LobbyTable[Member]) -> None:
        self.tables.discard(table)
        if self.finishing and not self.tables:
            self._idle.set()
        self._timers.later(0, self._on_end)  # clients may be waiting because there were too many games
        for member in table.members:
            member.unheard = True
            forget = functools.partial(self._forget, member, table.tabletop.game_id)
            self._timers.later(RETELL_S, forget)
        record = table.tabletop.record()
        ending = record.ending
        _log.info("game.ended", game_id=record.game_id, scores=ending and ending.scores, rounds=record.rounds)
        # a practice game has no id for its player, who keeps it under another
        if self._on_record is not None and not table.tabletop.game_type.is_practice:
            task = asyncio.create_task(self._hand_over(record))
            self._saving.add(task)
            task.add_done_callback(self._saving.discard)

    def heard(self, member: Member | None) -> None:
        """Note that the member knows that the game is over."""
        if member is not None and member.unheard:
            self._register.game_over(member)

    def _forget(self, member: Member, game_id: str) -> None:
        if member.table is not None and member.table.tabletop.game_id == game_id:
            self.heard(member)

    async def _hand_over(self, record: GameRecord) -> None:
        assert self._on_record is not None
        try:
            await asyncio.to_thread(self._on_record, record)
        except Exception:  # task root: the lobby goes on if a record cannot be saved
            _log.exception("record.unsaved", game_id=record.game_id)


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
