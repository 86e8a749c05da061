"""The protocol without I/O: text in, events and messages out. Covers login, lobby, game, end and resume.

The caller provides the socket, the clock and the decisions: it passes every text frame to `Session.receive`,
sends the messages from `Session.outbox` after each call, and answers prompts. Nothing here waits or sleeps.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import count
from typing import Any, Final

import msgspec
import numpy as np

from bot.tenhou.game_types import GameType, refusal
from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as m
from bot.tenhou.messages.parse_server import parse_server
from bot.tenhou.names import GUEST
from bot.tenhou.session.events import (
    GameMissed,
    LoggedIn,
    LoginAgainLater,
    PromptOpened,
    Queued,
    Rejected,
    Replaced,
    ServerClosing,
    ServerText,
    SessionEvent,
    UnknownTag,
    rejection,
)
from bot.tenhou.session.known_round import RoundSource
from bot.tenhou.session.seat import Seat
from game.actions import Action
from game.events import GameEvent
from game.scoring.settlement import GameLength
from game.state import new_round
from kit.errors import LocalProtocolError, StateMismatchError

LOGIN_PAUSE_S: Final = 5.0


class Stage(Enum):
    """The stage a connection has reached."""

    NEW = "new"
    LOGIN = "login"
    LOBBY = "lobby"
    QUEUED = "queued"
    GAME = "game"
    CLOSED = "closed"


class SessionSettings(msgspec.Struct, frozen=True):
    """The login and the game to queue for.

    Attributes:
        name: the secret login id, or ``NoName`` for a guest.
        sex: M, F or C.
        lobby: ``0``, the number of a private lobby, or ``C`` and eight digits for a tournament lobby.
        game_type: Tenhou's number for the game type.
        gpid: code that reclaims a guest's seat after a restart.
        auto_queue: whether to queue after the login.
    """

    name: str = GUEST
    sex: str = "M"
    lobby: str = "0"
    game_type: int = 9
    gpid: str = ""
    auto_queue: bool = True

    def __repr__(self) -> str:
        name = self.name if self.name == GUEST else "hidden"
        return f"SessionSettings(name={name!r}, lobby={self.lobby!r}, game_type={self.game_type})"

    @property
    def ticket(self) -> str:
        """The queue request; a tournament's lobby is 10000 plus the first four digits of its number."""
        lobby = str(10000 + int(self.lobby[1:5])) if self.is_tournament else self.lobby
        return f"{lobby},{self.game_type}"

    @property
    def is_tournament(self) -> bool:
        """Whether the lobby belongs to a tournament."""
        return self.lobby.startswith("C")


class Session:
    """One login and the games played on it."""

    def __init__(self, settings: SessionSettings) -> None:
        self.settings = settings
        self.stage = Stage.NEW
        self.seat: Seat | None = None
        self._numbers = count(1)
        self._out: list[c.ClientMessage] = []
        self._fresh = False  # a login was sent and has not been answered
        self._resume_code = settings.gpid
        self._told: set[tuple[str, str]] = set()
        self._returning: m.MatchFound | None = None  # the game we rejoin, until the server names its players

    # --- state for the caller to read ----------------------------------------------------------------

    @property
    def state(self) -> np.void:
        """The round's record."""
        return self.seat.round.record if self.seat else new_round()

    @property
    def player(self) -> int:
        """Our absolute player number; -1 until it is known."""
        return self.seat.player if self.seat else -1

    @property
    def length(self) -> GameLength:
        """Length of the running game, or of the one to queue for."""
        number = self.seat.match.game_type if self.seat else self.settings.game_type
        return GameType(number).length

    @property
    def log(self) -> list[GameEvent]:
        """Every event of the running or last game, as received."""
        return self.seat.log.events if self.seat else []

    @property
    def prompt(self) -> PromptOpened | None:
        """The open prompt, or None."""
        return self.seat.turn.prompt if self.seat else None

    @property
    def in_game(self) -> bool:
        """Whether we are in a running game."""
        return self.seat is not None and not self.seat.is_over

    @property
    def resume_code(self) -> str:
        """Secret code that reclaims our seat after a restart; empty when no game is running."""
        return self._resume_code

    @property
    def riichi_pending(self) -> bool:
        """Whether our riichi awaits confirmation; after two seconds call `assume_riichi`."""
        return self.seat is not None and self.seat.turn.riichi.is_pending

    # --- actions of the caller -----------------------------------------------------------------------

    def start(self) -> list[c.ClientMessage]:
        """Forget any running game; the first messages to send on a new connection."""
        self.seat = None
        return self._login()

    def reconnect(self) -> list[c.ClientMessage]:
        """Keep a running game; the first messages to send on a connection that replaces a broken one."""
        if self.seat is not None:
            if self.seat.is_over:
                self.seat = None
            else:
                self.seat.come_back()
        return self._login()

    def _login(self) -> list[c.ClientMessage]:
        self._renew_line()
        return [c.Login(self.settings.name, self.settings.sex, self._resume_code)]

    def _renew_line(self) -> None:
        self._out.clear()
        self._fresh = True
        self._returning = None
        self.stage = Stage.LOGIN

    def outbox(self) -> list[c.ClientMessage]:
        """The messages to send, oldest first; clears them."""
        messages, self._out = self._out, []
        return messages

    def answer(self, prompt_id: int, action: Action) -> None:
        """Answer a prompt.

        Raises:
            LocalProtocolError: the prompt is over, or the action is not in its legal set.
        """
        if self.seat is None:
            raise LocalProtocolError("no game is running")
        self.seat.turn.answer(prompt_id, action)

    def assume_riichi(self) -> list[SessionEvent]:
        """Open the prompt for the riichi discard although the server has not confirmed the riichi.

        Raises:
            LocalProtocolError: no riichi awaits confirmation.
        """
        if self.seat is None:
            raise LocalProtocolError("no game is running")
        return self.seat.assume_riichi()

    def keepalive(self) -> None:
        """Send a keepalive frame."""
        self._send(c.KeepAlive())

    def leave(self) -> None:
        """Log out."""
        self._send(c.Leave())
        self.stage = Stage.CLOSED

    def _send(self, message: c.ClientMessage) -> None:
        self._out.append(message)

    # --- frames in -----------------------------------------------------------------------------------

    def receive(self, text: str) -> list[SessionEvent]:
        """Take one text frame.

        Raises:
            RemoteProtocolError: the frame is unreadable; the session is unchanged.
            StateMismatchError: the frame contradicts the state; reconnect and resume.
        """
        return self.take(parse_server(text))

    def take(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Take one parsed frame.

        Raises:
            StateMismatchError: as for `receive`.
        """
        if self.seat is None and self._awaits_seat and isinstance(message, _OF_A_GAME):
            self._sit_down()
        handler = _HANDLERS.get(type(message))
        if handler is not None:
            events: list[SessionEvent] = handler(self, message)
        elif self.seat is not None:
            events = self.seat.receive(message)
        elif isinstance(message, _LOBBY_NEWS):
            events = []
        else:
            raise StateMismatchError(f"{type(message).__name__} without a game")
        return self._unknown(message) + events

    def _unknown(self, message: m.ServerMessage) -> list[SessionEvent]:
        tag = message.tag if isinstance(message, m.Unknown) else type(message).__name__
        kinds = [(tag, "")] if isinstance(message, m.Unknown) else [(tag, name) for name, _ in message.extra]
        new = [kind for kind in kinds if kind not in self._told and len(self._told) < 1000]
        self._told.update(new)
        return [UnknownTag(*kind) for kind in new]

    # --- login and lobby -----------------------------------------------------------------------------

    def _hello(self, message: m.Hello) -> list[SessionEvent]:
        if self.in_game and not self._fresh:
            raise StateMismatchError("a login is confirmed in the middle of a game")
        events = self._close("it ended while we were disconnected") if self.in_game else []
        self._fresh = False
        self._resume_code = ""
        self.stage = Stage.LOBBY
        events.append(LoggedIn(message.name))
        if message.promotion:
            events.append(ServerText("", message.promotion))
        if message.closing:
            events.append(ServerClosing())
        return events + self._enter_lobby()

    def _enter_lobby(self) -> list[SessionEvent]:
        settings = self.settings
        if settings.is_tournament:
            self._send(c.JoinTournament(settings.lobby))
            return []
        self._send(c.ShowStatistics(1 if settings.name == GUEST else settings.game_type))
        if settings.lobby != "0":
            self._send(c.MoveLobby(settings.lobby))
        return self._queue_first()

    def _queue_first(self) -> list[SessionEvent]:
        if not self.settings.auto_queue:
            return []
        self.stage = Stage.QUEUED
        self._send(c.Queue(self.settings.ticket))
        return [Queued(self.settings.ticket)]

    def _tournament(self, _: m.TournamentInfo) -> list[SessionEvent]:
        if self.stage is not Stage.LOBBY or not self.settings.is_tournament:
            return []
        self._send(c.ShowStatistics(-1))
        self._send(c.AskDate())
        return self._queue_first()

    def _queue_again(self, message: m.QueueAgain) -> list[SessionEvent]:
        if self.stage not in (Stage.QUEUED, Stage.GAME):  # in a game, it has ended unseen
            return []
        self._send(c.Queue(message.ticket))
        return [Queued(message.ticket, again=True)]

    def _error(self, message: m.ServerError) -> list[SessionEvent]:
        if message.code == m.ALREADY_CONNECTED and self.in_game and not self._fresh:
            return [Replaced()]
        return [rejection(message.code)]

    def _login_again(self, _: m.LoginAgain) -> list[SessionEvent]:
        return [LoginAgainLater(LOGIN_PAUSE_S)]

    def _chat(self, message: m.ChatLine) -> list[SessionEvent]:
        return [ServerText(message.name, message.text)] if message.text else []

    # --- a game --------------------------------------------------------------------------------------

    @property
    def _awaits_seat(self) -> bool:
        return self.stage in (Stage.LOBBY, Stage.QUEUED)

    def _sit_down(self) -> None:
        """Rejoin a game that the server returns us to without a match message.

        Observed: ``REINIT`` in reply to ``JOIN``. The game type is assumed to be the one we queued for.
        """
        lobby, _, _ = self.settings.ticket.partition(",")
        match = m.MatchFound(self.settings.game_type, lobby)
        self.seat = Seat(match, self._numbers, self._send, is_named=False)
        self.seat.come_back()
        self.stage = Stage.GAME

    def _close(self, why: str) -> list[SessionEvent]:
        """Leave the running game as it stands: we shall not see its end."""
        assert self.seat is not None
        seat, self.seat = self.seat, None
        return [*seat.turn.close(), GameMissed(why, seat.events_so_far())]

    def _change_game(self, seat: Seat, why: str) -> list[SessionEvent]:
        """Leave the running game for another; one that has not begun is not missed."""
        assert self.seat is not None
        events = self._close(why) if self.seat.log.is_open else []
        self.seat = seat
        return events

    def _match(self, message: m.MatchFound) -> list[SessionEvent]:
        refused = "watching games is not supported" if message.spectating else refusal(message.game_type)
        if refused:
            events = self._close("the server seated us at another table") if self.in_game else []
            return [
                *events,
                Rejected("unsupported", f"the server seats us at a table we cannot play: {refused}"),
            ]
        self._resume_code = message.resume_code
        events = []
        if self.in_game and self._fresh:
            self._returning = message
        else:
            seat = Seat(message, self._numbers, self._send)
            if self.in_game or self._fresh:
                seat.come_back()
            if self.in_game:
                events = self._change_game(seat, "the server seated us at another table")
            self.seat = seat
        self._fresh = False
        self.stage = Stage.GAME
        self._send(c.AcceptMatch())
        return events

    def _players(self, message: m.PlayerNames) -> list[SessionEvent]:
        if self.seat is None:
            raise StateMismatchError("players without a game")
        events: list[SessionEvent] = []
        if self._returning is not None and self.seat.people.names != message.names:
            seat = Seat(self._returning, self._numbers, self._send)
            seat.come_back()
            events = self._change_game(seat, "the server returned us to another table")
        self._returning = None
        return events + self.seat.receive(message)

    def _begins(self, message: m.GameBegins) -> list[SessionEvent]:
        if self.seat is None:
            raise StateMismatchError("a game begins without a match")
        events: list[SessionEvent] = []
        if self.seat.is_dealt and not self.seat.is_over:
            events = self._change_game(self.seat.twin(), "the server began another game")
        events += self.seat.receive(message)
        self._send(c.Ready())
        return events

    def _deal(self, message: m.RoundDealt) -> list[SessionEvent]:
        if self.seat is None:
            raise StateMismatchError("a round is dealt without a game")
        try:
            return self.seat.receive(message)
        except StateMismatchError as exc:
            seat = self.seat.twin()
            dealt = seat.receive(message)  # raises if no game can have this deal
            seat.round.source = RoundSource.UNEXPECTED
            return self._change_game(seat, f"the server dealt a round of another game: {exc}") + dealt

    def _result(self, message: m.RoundWon | m.RoundDrawn) -> list[SessionEvent]:
        if self.seat is None:
            raise StateMismatchError("a round ends without a game")
        events = self.seat.receive(message)
        if message.final is not None and self.seat.is_over:
            self._resume_code = ""
            self.stage = Stage.LOBBY
        return events


_LOBBY_NEWS: Final = (
    m.Unknown,
    m.LobbyCounts,
    m.Ranking,
    m.EchoReply,
    m.DateReply,
    m.OwnResult,
    m.ScoresResumed,
    m.PlayerGone,
    m.PlayerBack,
)
"""Frames that may arrive outside a game."""

_OF_A_GAME: Final = (m.PlayerNames, m.GameBegins, m.RoundSnapshot, m.RoundDealt)
"""Frames with enough information to rejoin a running game."""

_HANDLERS: Final[dict[type[m.ServerMessage], Callable[[Session, Any], list[SessionEvent]]]] = {
    m.Hello: Session._hello,
    m.LoginAgain: Session._login_again,
    m.ServerError: Session._error,
    m.ChatLine: Session._chat,
    m.TournamentInfo: Session._tournament,
    m.QueueAgain: Session._queue_again,
    m.MatchFound: Session._match,
    m.PlayerNames: Session._players,
    m.GameBegins: Session._begins,
    m.RoundDealt: Session._deal,
    m.RoundWon: Session._result,
    m.RoundDrawn: Session._result,
}
