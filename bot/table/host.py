"""The table: its seats, and one game after another, each begun when every person is ready."""

from __future__ import annotations

import asyncio
import functools
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog

from bot.player.worker import WorkerThread
from bot.table.plan import LevelName, Opponents, TableBot
from bot.table.reviews import Advisor, TableReviews
from bot.table.saved import GameFile, SavedGame, TakenBack
from bot.table.seat import PersonSeat
from bot.tenhou.lobby.lobby_table import LobbyTable
from bot.tenhou.lobby.table_seat import SeatInfo
from bot.tenhou.lobby.tabletop import Move, Tabletop, new_tabletop
from game.actions import Action
from game.events import four
from kit.errors import BotError
from policies.play.rollout import Chooser, Request
from replays.record import GameRecord, game_id

SEATS: Final = 4

log = structlog.get_logger(__name__)


class TableHost:
    """Seats people and bots, and plays games on the running event loop.

    Args:
        opponents: what is played, and the programs; for practice there is one person only.
        people: names of the persons; four seats in all.
        program: name and version of the program.
        keep: saves the record of a finished game, on a separate thread.
        reviews: makes the reviews.
        advisor: gives advice; nobody gets any with two persons at the table.
        save: opens the file that saves a running game, given the table's seed, the game's number and its ID;
            None if it cannot be written.

    Attributes:
        people: the persons' seats.
        reviews: the reviews of their games.
        games: number of games begun.
        table: the running or last game.
    """

    def __init__(
        self,
        opponents: Opponents,
        people: Sequence[str],
        *,
        program: str,
        keep: Callable[[GameRecord], Path | None],
        reviews: TableReviews,
        advisor: Advisor | None = None,
        save: Callable[[int, int, str], GameFile | None] = lambda *_: None,
    ) -> None:
        assert len(people) + len(opponents.bots) == SEATS
        plan = opponents.setup.plan
        self.games = 0
        self.table: LobbyTable[PersonSeat] | None = None
        self._plan = plan
        self._opponents = opponents
        self._keep = keep
        self.reviews = reviews
        self._advisor = advisor if len(people) == 1 else None
        self._seed = secrets.randbits(62) if plan.seed is None else plan.seed
        self._save = save
        self._file: GameFile | None = None
        self._awaited: list[PersonSeat] = []
        self._order: tuple[PersonSeat | TableBot, ...] = ()
        self._workers: dict[int, WorkerThread] = {}
        self._dismissed: list[WorkerThread] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.people = [
            PersonSeat(
                name,
                program,
                plan.delay_s,
                facts=self._facts,
                on_ready=self._begin_if_ready,
                on_level=self._choose_level,
                on_presence=self._presence_changed,
                on_take_back=self._go_on_from if plan.practice else None,
                advisor=self._advisor,
            )
            for name in people
        ]
        self._tell_all()

    @property
    def playing(self) -> bool:
        """Whether a game is running."""
        return self.table is not None and not self.table.done

    @property
    def saved(self) -> bool:
        """Whether the running game can be resumed by another run of the program."""
        return self.playing and self._file is not None and self._file.complete

    @property
    def reviewing(self) -> bool:
        """Whether the record or a review of a finished game is still being made, or a level loaded."""
        return bool(self._tasks)

    def seat_of(self, key: str) -> PersonSeat | None:
        """The seat whose address has this key."""
        given = key.encode()
        return next((seat for seat in self.people if secrets.compare_digest(seat.key.encode(), given)), None)

    async def ended(self) -> None:
        """Wait until the records and reviews of all finished games are made, and a chosen level is loaded."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def all_have_seen(self) -> None:
        """Wait until every page has received everything."""
        for seat in self.people:
            await seat.sockets.all_have_seen()

    def close(self) -> None:
        """Stop a running game, and end all threads; does not wait for them."""
        if self.table is not None:
            self.table.close()
        for seat in self.people:
            seat.close()
        self._dismiss(self._opponents.bots)
        if self._advisor is not None:
            self._advisor.worker.close()
        self.reviews.worker.close()
        if self._file is not None:
            self._file.close()

    def join(self, timeout_s: float) -> bool:
        """Wait for the threads to end, after `close`; return whether all have.

        The program must not exit while a network runs on one of them: that would abort the process.
        """
        until = time.monotonic() + timeout_s
        threads = [*self._dismissed, *self._workers.values(), self.reviews.worker]
        if self._advisor is not None:
            threads.append(self._advisor.worker)
        return all(thread.join(max(0.0, until - time.monotonic())) for thread in threads)

    # --- a game --------------------------------------------------------------------------------------------

    def _begin_if_ready(self) -> None:
        if not self.playing and not self._opponents.loading and all(seat.ready for seat in self.people):
            self._begin()
        self._tell_all()

    def _choose_level(self, level: LevelName) -> None:
        """Load the programs of a level for the next game; not during a game, or if there is no level."""
        present = self._opponents.loading or self._opponents.setup.level
        if not self.playing and present not in (None, level):
            if self._opponents.choose(level):
                self._do(self._replace_programs())
            self._tell_all()

    async def _replace_programs(self) -> None:
        old = self._opponents.bots
        await self._opponents.load()
        if self._opponents.bots is not old:
            self._dismiss(old)
            self._order = ()
        self._begin_if_ready()

    def _dismiss(self, bots: Sequence[TableBot]) -> None:
        """Let the threads of some programs end."""
        for key, chooser in {id(bot.chooser): bot.chooser for bot in bots}.items():
            worker = self._workers.pop(key, None)
            if worker is not None:
                worker.submit(functools.partial(chooser.close, defaultdict(float)))
                worker.close()
                self._dismissed.append(worker)

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def resume(self, saved: SavedGame, file: GameFile) -> None:
        """Seat everybody in a game that was interrupted; it goes on when those who were there are back.

        Args:
            saved: the game.
            file: saves it from now on.

        Raises:
            ConfigError: it cannot be played again.
        """
        self._seed, self.games = saved.start.seed, saved.start.number - 1
        self._file = file
        try:
            table = self._sit_down(saved.start.game_id, replaying=True)
            table.replay(saved.moves)
        except Exception as exc:  # an altered move fails anywhere
            raise saved.unusable(exc if isinstance(exc, BotError) else "it is damaged") from exc
        for seat in self.people:
            seat.replayed()
        log.info("game.resumed", game_id=saved.start.game_id, game=self.games, moves=table.tabletop.moves)
        self._awaited = [seat for seat in self.people if seat.connection is not None] or list(self.people)
        if table.done:
            table.go_on_from()  # only its record is missing

    def _presence_changed(self) -> None:
        if self._awaited and self.table is not None and all(seat.here for seat in self._awaited):
            self._awaited = []
            self.table.go_on_from()
        self._tell_all()

    def _begin(self) -> None:
        record_id = game_id(datetime.now(UTC), self._plan.game_type.number, 0, secrets.randbits(32))
        self._file = self._save(self._seed, self.games + 1, record_id)
        self._sit_down(record_id).open()
        for seat in self.people:
            if not seat.here:
                seat.leave_table()

    def _sit_down(self, record_id: str, *, replaying: bool = False) -> LobbyTable[PersonSeat]:
        """Draw seats and walls of the next game."""
        self.games += 1
        rng = np.random.default_rng([self._seed, self.games])
        players = (*self.people, *self._opponents.bots)
        self._order = tuple(players[place] for place in rng.permutation(SEATS))
        seats = [
            SeatInfo(each.name, is_client=True)
            if isinstance(each, PersonSeat)
            else SeatInfo(each.name, sex="C")
            for each in self._order
        ]
        kind, names = self._plan.game_type, four(seat.name for seat in seats)
        tabletop = new_tabletop(rng, kind, seats, self._plan.clock_settings, record_id)
        table = self._seat_at(tabletop)
        for player, each in enumerate(self._order):
            if isinstance(each, PersonSeat):
                each.sit_down(table, player, replaying=replaying)
        log.info("game.started", game_id=tabletop.game_id, game=self.games, names=names, kind=str(kind))
        return table

    def _seat_at(self, tabletop: Tabletop) -> LobbyTable[PersonSeat]:
        decide, delay_s = self._decider(tabletop), self._plan.delay_s
        self.table = LobbyTable(tabletop, self.people, decide, delay_s, self._finished, self._save_entry)
        return self.table

    def _go_on_from(self, tabletop: Tabletop) -> LobbyTable[PersonSeat]:
        """Continue the running game from an earlier state."""
        assert self.table is not None
        self.table.close()
        self._save_entry(TakenBack(tabletop.moves))
        return self._seat_at(tabletop)

    def _save_entry(self, entry: Move | TakenBack) -> None:
        if self._file is not None:
            self._file.write(entry)

    def _decider(self, tabletop: Tabletop) -> Callable[..., asyncio.Future[Action]]:
        order, number = self._order, self.games

        def decide(view: np.void, player: int, legal: Sequence[Action]) -> asyncio.Future[Action]:
            bot = order[player]
            assert isinstance(bot, TableBot)
            request = Request(
                record=view,
                player=player,
                legal=tuple(legal),
                length=tabletop.table.length,
                number=number,
                table=tabletop.table,
            )
            return self._worker(bot.chooser).submit(lambda: _chosen(bot.chooser, request))

        return decide

    def _worker(self, chooser: Chooser) -> WorkerThread:
        """The thread of a player; one that has several seats decides for them one after another."""
        worker = self._workers.get(id(chooser))
        if worker is None or not worker.alive:
            worker = self._workers[id(chooser)] = WorkerThread("table player")
        return worker

    def _finished(self, table: LobbyTable[PersonSeat]) -> None:
        record = table.tabletop.record()
        log.info("game.ended", game_id=record.game_id, scores=record.ending and record.ending.scores)
        players = {seat.key: seat.player for seat in self.people}  # the next game has others
        file, self._file = self._file, None
        self._do(self._end(record, players, file))

    async def _end(self, record: GameRecord, players: Mapping[str, int], file: GameFile | None) -> None:
        kept = None
        try:
            kept = await asyncio.to_thread(self._keep, record)
        except Exception:  # task root: the table stays open if a record cannot be saved
            log.exception("record.unsaved", game_id=record.game_id)
        if file is not None:
            file.close(remove=kept is not None)
        self._tell_all()
        for key, player in players.items():
            await self.reviews.make(record, player, key)
            self._tell_all()

    # --- state ---------------------------------------------------------------------------------------------

    def _tell_all(self) -> None:
        for seat in self.people:
            seat.tell()

    def _facts(self, viewer: PersonSeat) -> dict[str, Any]:
        """Facts for everybody at the table, and the review of the viewer's last game."""
        last = self.table.tabletop.game_id if self.table is not None else ""
        seats = self._order or (*self.people, *self._opponents.bots)
        return {
            "stage": "playing" if self.playing else "over" if self.games else "seating",
            "length": self._plan.length,
            "clock_name": self._plan.clock,
            "ready": viewer.ready,
            "seats": [_seat_facts(each, viewer) for each in seats],
            "review": self.reviews.state(last, viewer.key),
            **self._opponents.facts(),
        }


def _seat_facts(each: PersonSeat | TableBot, viewer: PersonSeat) -> dict[str, Any]:
    person = isinstance(each, PersonSeat)
    return {
        "name": each.name,
        "level": None if isinstance(each, PersonSeat) else each.level,
        "own": each is viewer,
        "person": person,
        "here": not isinstance(each, PersonSeat) or each.here,
        "ready": not isinstance(each, PersonSeat) or each.ready,
    }


def _chosen(chooser: Chooser, request: Request) -> Action:
    return chooser.choose([request], defaultdict(float))[0].action
