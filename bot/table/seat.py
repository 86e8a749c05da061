"""A person's seat: the session that plays it, what the pages are shown, and what they may do.

The session is the one of our own client: it receives the frames that the table sends to this seat, and
nothing else, so a page cannot show what the seat does not see. A page that is loaded again, or loses its
connection, continues where it was. Only after a while without any page has the person left; then the clock
plays, and on their return the session resumes the game.
"""

from __future__ import annotations

import asyncio
import copy
import math
import secrets
from collections.abc import Callable
from itertools import count
from typing import Any, Final

import msgspec
import structlog

from bot.dashboard.feed import Feed
from bot.dashboard.game_messages import GameMessages
from bot.table.plan import LevelName
from bot.table.requests import (
    ChooseAction,
    ChooseLevel,
    Continue,
    OpenPrompt,
    SetSwitch,
    SitDown,
    Switches,
    TakeBack,
    automatic,
    furiten_of,
    parse_request,
    waits_of,
)
from bot.table.reviews import Advisor
from bot.tenhou.client.journal import Journal
from bot.tenhou.lobby.lobby_table import FrameSink, LobbyTable
from bot.tenhou.lobby.tabletop import Tabletop
from bot.tenhou.messages import Hello, Ready, ServerMessage, render_json
from bot.tenhou.session.core import Session, SessionSettings
from bot.tenhou.session.events import PromptClosed, PromptOpened, SessionEvent, TableEvent
from bot.web.limits import Limits
from bot.web.message_log import MessageLog
from bot.web.sockets import BrowserSockets
from game.actions import Action, ActionKind
from game.events import DrawnRound, StartRound, Win
from game.observation import Observation
from game.rules import twins_of_drawn
from game.state import clone
from kit.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from replays.record import DecisionRecord

MOST: Final = 200
"""Decisions that can be taken back; each takes some ten kilobytes of memory."""


AWAY_S: Final = 8.0
"""Without a page for this long, the person has left; loading a page again takes less."""
BROWSERS: Final = 8
"""Pages of one seat that may be open at a time."""
KEY_BYTES: Final = 16
RIICHI_DECLARED: Final = 1
"""`game.layout`: the discard of the riichi follows."""

log = structlog.get_logger(__name__)


class PersonSeat:
    """A person's seat, over any number of games.

    Args:
        name: the person's name.
        program: name and version of the program.
        delay_s: pause before each move that the person does not have to think about.
        facts: the state of the whole table, as the page of this seat is told it.
        on_ready: called when the person is ready for a game.
        on_level: called when the person wants programs of another level.
        on_presence: called when the person has left or returned.
        on_take_back: continues the game from a copy of its tabletop, and returns the new table; None if no
            moves may be taken back.
        advisor: None if there is no advice.

    Attributes:
        key: secret part of the address of the seat's page.
        player: absolute number in the running or last game.
        here: whether a page of the seat is open.
        ready: whether the person is ready for the next game.
        show: the messages for the pages.
        sockets: the pages.
    """

    def __init__(
        self,
        name: str,
        program: str,
        delay_s: float,
        *,
        facts: Callable[[PersonSeat], dict[str, Any]],
        on_ready: Callable[[], None],
        on_level: Callable[[LevelName], None],
        on_presence: Callable[[], None],
        on_take_back: Callable[[Tabletop], LobbyTable[PersonSeat]] | None,
        advisor: Advisor | None,
    ) -> None:
        self.name = name
        self.key = secrets.token_urlsafe(KEY_BYTES)
        self.player = -1
        self.here = False
        self.ready = False
        self._delay_s = delay_s
        self._facts = facts
        self._on_ready = on_ready
        self._on_level = on_level
        self._on_presence = on_presence
        self._on_take_back = on_take_back
        self._advisor = advisor
        self._history: list[tuple[Tabletop, Session]] = []  # where the person was asked
        self.show = MessageLog(program)
        self.sockets = BrowserSockets(
            self.show, Limits(), on_text=self.hear, on_count=self.count_pages, newest=BROWSERS
        )
        self._feed = Feed()
        self._messages = GameMessages(self.show.send, program)
        self._switches = Switches()
        self._numbers = count(1)
        self._newest = 0  # the prompt opened last, in any game
        self._session = Session(SessionSettings(auto_queue=False))
        self._journal = Journal()
        self._table: LobbyTable[PersonSeat] | None = None
        self._listens = False
        self._prompt: OpenPrompt | None = None
        self._advised = 0  # the prompt on which advice was last asked for
        self._at_result = False
        self._results = 0
        self._result = 0  # the number of the result that awaits the person, 0 for none
        self._leaving: asyncio.TimerHandle | None = None
        self._flush_due = False
        self._replaying = False

    # --- interface for the table -------------------------------------------------------------------------

    @property
    def connection(self) -> FrameSink | None:
        """Where the frames for this seat go; None while the person is away."""
        return self if self._listens else None

    @property
    def seen(self) -> Observation | None:
        """What the person is asked about; None if nothing is."""
        if self._prompt is None:
            return None
        state, length = self._session.state, self._session.length
        return Observation(clone(state), self.player, self._prompt.legal, length)

    def sit_down(self, table: LobbyTable[PersonSeat], player: int, *, replaying: bool = False) -> None:
        """Join a game that is about to begin, or to be played again up to where it was interrupted."""
        self._replaying = replaying
        self._table, self.player, self.ready = table, player, False
        self._prompt, self._at_result, self._result = None, False, 0
        self._history = []
        self._switches = Switches(advice=self._switches.advice)
        self._journal = Journal()
        self._session = Session(SessionSettings(auto_queue=False))
        self._session.start()
        self._session.take(Hello(self.name))
        self._session.outbox()
        self._listens = True

    def replayed(self) -> None:
        """Take up a game that was played again: only what is still open concerns the person."""
        assert self._table is not None
        tabletop = self._table.tabletop
        self._replaying = False
        self._session.outbox()
        if tabletop.is_away(self.player):
            self._listens, self._prompt = False, None
        elif tabletop.phase == "seating":
            self._table.receive(self, Ready())
        elif tabletop.phase == "popup":
            self._await_person()
        self._set(self._switches)

    def push(self, message: ServerMessage) -> None:
        """Take a frame from the table; answers follow later, as over a connection."""
        assert self._table is not None
        try:
            events = self._session.receive(render_json(message))
        except ProtocolError as exc:
            log.exception("state.mismatch", seat=self.player, reason=str(exc))
            self._listens = False
            asyncio.get_running_loop().call_soon(self._resume)
            return
        for event in events:
            self._take(event)
        if not self._replaying:
            self._flush_soon()

    def tell(self) -> None:
        """Show the pages the current state."""
        self.show.session(self._state())

    def close(self) -> None:
        """Let the pages go."""
        if self._leaving is not None:
            self._leaving.cancel()
        self.show.end()

    # --- events of the session ---------------------------------------------------------------------------

    def _take(self, event: SessionEvent) -> None:
        assert self._table is not None
        self._journal.write(event)
        self._feed.hear(event, self._session.log, self._table.tabletop.game_id, self._session.player)
        self._show_news()
        match event:
            case TableEvent(StartRound()):
                self._at_result, self._result = False, 0
            case TableEvent(Win() | DrawnRound()):
                self._at_result = True
            case PromptOpened():
                self._open(event)
            case PromptClosed():
                self._prompt = None

    def _show_news(self) -> None:
        for item in self._feed.take():
            self._messages.take(item)

    def _open(self, event: PromptOpened) -> None:
        self._newest = next(self._numbers)
        state = self._session.state
        twins = twins_of_drawn(state, self.player, event.legal)[:1]
        twin = tuple(Action(ActionKind.DISCARD, tile) for tile in twins)
        prompt = self._prompt = OpenPrompt(self._newest, event.prompt_id, event.legal, twin)
        action = automatic(event.legal, self._switches, int(state["drawn"]))
        if action is not None:
            if self._replaying:
                return
            self._prompt = None
            declared = int(state["riichi"][self.player]) == RIICHI_DECLARED
            delay_s = 0.0 if declared else self._delay_s  # the person chose the discard with the riichi
            loop = asyncio.get_running_loop()
            loop.call_later(delay_s, self._answer, prompt, action)
            return
        if self._on_take_back is not None:
            assert self._table is not None
            now = copy.deepcopy(self._table.tabletop), copy.deepcopy(self._session)
            self._history = [*self._history[1 - MOST :], now]
        if self._switches.advice:
            self._ask_advisor()

    def _answer(self, prompt: OpenPrompt, action: Action) -> None:
        if prompt.number != self._newest:
            return  # the game has gone on
        try:
            self._session.answer(prompt.prompt_id, action)
        except LocalProtocolError as exc:
            log.debug("decision.late", seat=self.player, why=str(exc))
        self._flush_soon()

    def _flush_soon(self) -> None:
        """Answer the table after it has sent all frames of its step."""
        if not self._flush_due:
            self._flush_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        for message in self._session.outbox():
            if isinstance(message, Ready) and self._at_result:
                self._await_person()
                continue
            assert self._table is not None
            try:
                self._table.receive(self, message)
            except RemoteProtocolError as exc:  # the clock was faster
                log.debug("decision.late", seat=self.player, why=exc.reason)
        self.tell()

    def _await_person(self) -> None:
        """Wait until the person has seen the result."""
        self._results += 1
        self._result = self._results

    def _ask_advisor(self) -> None:
        """Ask for advice on the open prompt, once."""
        prompt = self._prompt
        if prompt is None or prompt.number == self._advised or self._advisor is None:
            return
        self._advised = prompt.number
        seen = self.seen
        assert seen is not None

        def show(made: DecisionRecord) -> None:
            if self._prompt is prompt:
                self._messages.decided(made)

        self._advisor.ask(seen, show)

    # --- requests of the pages ---------------------------------------------------------------------------

    def hear(self, text: str) -> None:
        """Do what a page asks for; what is not possible now changes nothing."""
        match parse_request(text):
            case ChooseAction(number, choice):
                prompt = self._prompt
                if prompt is not None and prompt.number == number and 0 <= choice < len(prompt.choices):
                    self._prompt = None
                    self._answer(prompt, prompt.choices[choice])
            case Continue(result):
                if result == self._result > 0 and self._table is not None:
                    self._result = 0
                    self._table.receive(self, Ready())
                    self.tell()
            case TakeBack(number):
                if number == self._newest:
                    self._take_back()
            case SetSwitch(name, on):
                self._set(Switches(**(msgspec.structs.asdict(self._switches) | {name: on})))
            case ChooseLevel(level):
                self._on_level(level)
            case SitDown():
                if not self.ready and not self._in_game:
                    self.ready = True
                    self._on_ready()

    def _set(self, switches: Switches) -> None:
        if switches.advice and self._advisor is None:
            return
        asked = switches.advice and not self._switches.advice
        self._switches = switches
        prompt = self._prompt
        if prompt is not None:
            action = automatic(prompt.legal, switches, int(self._session.state["drawn"]))
            if action is not None:
                self._prompt = None
                self._answer(prompt, action)
            elif asked:
                self._ask_advisor()
        self.tell()

    @property
    def _can_take_back(self) -> bool:
        possible = self._on_take_back is not None and self._in_game and self._listens
        # the state of an open prompt is not an earlier one
        return possible and len(self._history) > (self._prompt is not None)

    def _take_back(self) -> None:
        """Return to the last decision before the open prompt."""
        if not self._can_take_back:
            return
        assert self._on_take_back is not None
        if self._prompt is not None:
            self._history.pop()
        tabletop, session = self._history.pop()
        self._session, self._at_result, self._result = session, False, 0
        self._table = self._on_take_back(tabletop)
        self._feed.follow(self._session.log)
        self._show_news()
        prompt = self._session.prompt
        assert prompt is not None
        self._open(PromptOpened(prompt.prompt_id, prompt.legal))
        self._table.go_on_from()
        self.tell()

    # --- presence ----------------------------------------------------------------------------------------

    @property
    def _in_game(self) -> bool:
        return self._table is not None and not self._table.done

    def count_pages(self, pages: int) -> None:
        """Note the number of open pages."""
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        if pages == 0:
            self._leaving = asyncio.get_running_loop().call_later(AWAY_S, self.leave)
        elif not self.here:
            self.here = True
            if self._table is not None and not self._listens:
                self._resume()  # also of a game that is over by now
            self._on_presence()
        else:
            self.tell()  # a new page needs the time that is left

    def leave(self) -> None:
        """The person has left."""
        self._leaving = None
        self.here = self.ready = False
        self.leave_table()
        self._on_presence()

    def leave_table(self) -> None:
        """Leave a running game until the person returns."""
        if self._in_game and self._listens:
            assert self._table is not None
            self._listens = False
            self._prompt = None
            self._result = 0
            self._table.drop(self)

    def _resume(self) -> None:
        """Take the seat back, as a client does on a new connection."""
        assert self._table is not None
        self._listens = True
        self._prompt = None
        self._session.reconnect()
        self._session.outbox()
        self._table.resume(self)

    # --- state -------------------------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        """Everything the page shows besides the events; it must hold no more than this seat sees."""
        record = self._session.state
        playing = self._in_game and self.player >= 0
        return self._facts(self) | {
            "player": self.player,
            "prompt": self._prompt and self._prompt.shown(record, self.player),
            "clock": self._clock(),
            "result": self._result,
            "switches": msgspec.to_builtins(self._switches),
            "advisable": self._advisor is not None,
            "practice": self._on_take_back is not None,
            "back": self._newest if self._can_take_back else 0,
            "waits": msgspec.to_builtins(waits_of(record, self.player)) if playing else [],
            "furiten": furiten_of(record, self.player) if playing else None,
        }

    def _clock(self) -> dict[str, float] | None:
        """The seconds left for the prompt or the result; None without a clock."""
        if self._table is None or not (self._prompt or self._result):
            return None
        left = self._table.tabletop.time_left(self.player, asyncio.get_running_loop().time())
        if left is None or not math.isfinite(left.base_s):
            return None
        return {"base": round(left.base_s, 2), "bank": round(left.bank_s, 2)}
