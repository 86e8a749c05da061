"""One running game: a `Tabletop` driven by frames, by time and by the decisions of the built-in players."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import structlog

from bot.tenhou.lobby.tabletop import Envelope, Move, TablePrompt, Tabletop
from bot.tenhou.messages import ClientMessage, ServerMessage
from game.actions import PASS, Action
from game.events import Ankan, Chi, Daiminkan, Kakan, Pon, Riichi

Decider: TypeAlias = "Callable[[np.void, int, Sequence[Action]], asyncio.Future[Action]]"
"""Decides for a built-in player, from its view of the round, its number and its legal actions."""

_ANNOUNCED: Final = (Chi, Pon, Daiminkan, Ankan, Kakan, Riichi)
"""The move after one of these waits twice as long, so that everybody can see it."""

_log = structlog.get_logger(__name__, side="lobby")


class FrameSink(Protocol):
    """Takes the frames for one client."""

    def push(self, message: ServerMessage) -> None:
        """Take a frame, to be sent soon; must not call the table."""


class TableClient(Protocol):
    """A client at the table."""

    @property
    def player(self) -> int:
        """Its absolute number."""

    @property
    def connection(self) -> FrameSink | None:
        """Where its frames go, None while it is disconnected."""


C = TypeVar("C", bound=TableClient)


class LobbyTable(Generic[C]):
    """A tabletop with its connections, its timer and its players."""

    def __init__(
        self,
        tabletop: Tabletop,
        members: Sequence[C],
        decide: Decider,
        delay_s: float,
        on_done: Callable[[LobbyTable[C]], None],
        on_move: Callable[[Move], None] | None = None,
    ) -> None:
        """Create a table; `open` starts the game.

        Args:
            tabletop: tabletop of the game.
            members: the clients at the table; each has its seat.
            decide: decides for the other players.
            delay_s: delay before those players answer; twice as long after a call or riichi.
            on_done: called once, when the last frame has been queued.
            on_move: called with each move, before any client is told.
        """
        self.tabletop = tabletop
        self.members = list(members)
        self._decide = decide
        self._delay_s = delay_s
        self._on_done = on_done
        self._on_move = on_move
        self._paused = False
        self._finished = False
        self._timer: asyncio.TimerHandle | None = None
        self._thinking: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.tabletop.done

    def open(self) -> None:
        """Start the game."""
        self._go_on(self.tabletop.open(self._loop.time()))

    def replay(self, moves: Iterable[Move]) -> None:
        """Play the moves of an interrupted game again, and pause it: `go_on_from` continues it.

        Raises:
            IllegalActionError: a move is not legal.
            StateMismatchError: a move has other results than it had.
        """
        self._paused = True
        now = self._loop.time()
        self._push(self.tabletop.open(now))
        for envelopes in self.tabletop.replay(moves, now):
            self._push(envelopes)

    def go_on_from(self) -> None:
        """Continue a paused game, or a copy of its tabletop, without telling the clients anything."""
        self._paused = False
        self.tabletop.go_on_from(self._loop.time())
        self._go_on([])

    def receive(self, member: C, message: ClientMessage) -> None:
        """Handle a frame from one of the players.

        Raises:
            RemoteProtocolError: the frame is not legal now.
        """
        self._go_on(self.tabletop.receive(member.player, message, self._loop.time()))

    def drop(self, member: C, *, for_good: bool = False) -> None:
        """A player has disconnected."""
        self._go_on(self.tabletop.leave(member.player, self._loop.time(), for_good=for_good))

    def resume(self, member: C) -> None:
        """A player has reconnected."""
        self._go_on(self.tabletop.log_in(member.player, self._loop.time()))

    def close(self) -> None:
        """Stop without finishing the game."""
        self._stop_timer()
        for task in self._thinking:
            task.cancel()

    def _push(self, envelopes: list[Envelope]) -> None:
        connections = {member.player: member.connection for member in self.members}
        for player, message in envelopes:
            connection = connections.get(player)
            if connection is not None:
                connection.push(message)

    def _go_on(self, envelopes: list[Envelope]) -> None:
        for move in self.tabletop.take_moves():
            if self._on_move is not None:
                self._on_move(move)
        self._push(envelopes)
        self._stop_timer()
        if self._paused:
            return
        if self.done:
            self._finish()
            return
        for prompt, view in self.tabletop.take_questions():
            task = self._loop.create_task(self._think(prompt, view))
            self._thinking.add(task)
            task.add_done_callback(self._thinking.discard)
        deadline = self.tabletop.deadline
        if deadline is not None and math.isfinite(deadline):
            self._timer = self._loop.call_at(deadline, self._tick)

    def _tick(self) -> None:
        self._timer = None
        # A timer may fire slightly early; the table's own clock decides.
        self._go_on(self.tabletop.tick(self._loop.time()))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _think(self, prompt: TablePrompt, view: np.void) -> None:
        if self._delay_s > 0:
            announced = isinstance(self.tabletop.events[-1], _ANNOUNCED)
            await asyncio.sleep(self._delay_s * (2 if announced else 1))
        action = prompt.legal[0]
        if len(prompt.legal) > 1:
            try:
                action = await self._decide(view, prompt.player, prompt.legal)
            except Exception:  # task root: the table must not wait for a failed player
                _log.exception("decision.fallback", player=prompt.player)
                action = PASS
        self._go_on(self.tabletop.answer(prompt, action, self._loop.time()))

    def _finish(self) -> None:
        if not self._finished:
            self._finished = True
            self._on_done(self)
