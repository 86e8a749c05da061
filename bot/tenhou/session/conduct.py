"""Checks a recorded client's frames: whether our session would have allowed each one when it was sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as m
from bot.tenhou.session import Session, SessionSettings, Stage
from bot.tenhou.session.events import SessionEvent
from bot.tenhou.session.translate import TABLE_MESSAGES

_TICKET: Final = re.compile(r"[0-9]{1,5},[0-9]{1,4}")
_ANSWERS: Final = (c.DiscardTile, c.DeclareRiichi, c.Respond)

SECOND_ANSWER: Final = "second answer"
"""An offer was answered twice before the server's next frame."""


class Objection(msgspec.Struct, frozen=True):
    """Why a frame would not have been allowed; ``kind`` names a known behaviour of recorded clients."""

    reason: str
    kind: str = ""


class ClientConduct:
    """A session that follows both directions of a recorded connection."""

    def __init__(self) -> None:
        self.session = Session(SessionSettings(auto_queue=False))
        self._matches = 0  # not yet accepted by the client
        self._results = 0  # not yet followed by a ready
        self._challenges = 0
        self._ticket = ""
        self._answered: c.ClientMessage | None = None

    def server(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Take a frame from the server.

        Raises:
            StateMismatchError: the frame contradicts the state.
        """
        events = self.session.take(message)
        self.session.outbox()
        handler = _HANDLERS.get(type(message))
        if handler is not None:
            handler(self, message)
        if isinstance(message, TABLE_MESSAGES):
            self._answered = None
        return events

    def client(self, message: c.ClientMessage) -> Objection | None:
        """Check a frame from the client, and continue as if we had sent it."""
        rule = _RULES.get(type(message))
        if rule is None:
            return Objection(f"we never send {type(message).__name__}")
        found = rule(self, message)
        return Objection(found) if isinstance(found, str) else found

    def watch(self) -> None:
        """Record that the client was admitted as a spectator, which it must accept; ours never spectates."""
        self._matches = 1

    # --- replies the server's frames call for --------------------------------------------------------

    def _on_hello(self, message: m.Hello) -> None:
        self._challenges = int(message.auth != "")

    def _on_match(self, _: m.MatchFound) -> None:
        self._matches = 1

    def _on_ready(self, _: m.ServerMessage) -> None:
        # Each result of a double ron may be followed by a ready: bots sent two, the web client sends one.
        self._results += 1

    def _on_deal(self, _: m.ServerMessage) -> None:
        self._results = 0

    def _on_ticket(self, message: m.QueueAgain) -> None:
        self._ticket = message.ticket

    # --- frames the client may send ------------------------------------------------------------------

    def _always(self, _: c.ClientMessage) -> None:
        return None

    def _login(self, _: c.Login) -> None:
        # The first frame of every connection, so it also marks a replaced connection.
        self.session.reconnect()
        self._matches = self._results = 0

    def _before_login(self, _: c.ClientMessage) -> str | None:
        early = self.session.stage in (Stage.NEW, Stage.LOGIN, Stage.CLOSED)
        return None if early else "only before the login"

    def _auth(self, _: c.AuthReply) -> str | None:
        due, self._challenges = self._challenges, 0
        return None if due else "no challenge is open"

    def _logged_in(self, _: c.ClientMessage) -> str | None:
        out = self.session.stage in (Stage.NEW, Stage.LOGIN, Stage.CLOSED)
        return "not logged in" if out else None

    def _in_lobby(self, message: c.ClientMessage) -> str | None:
        return "a game is running" if self.session.in_game else self._logged_in(message)

    def _queue(self, message: c.Queue) -> str | None:
        due, self._ticket = self._ticket, ""
        if message.ticket and message.ticket == due:
            return self._logged_in(message)  # even in a game: it has ended unseen
        objection = self._in_lobby(message)
        if objection or not message.ticket or _TICKET.fullmatch(message.ticket):
            return objection
        return f"the server did not issue the ticket {message.ticket!r}"

    def _accept(self, _: c.AcceptMatch) -> str | None:
        due, self._matches = self._matches, 0
        return None if due else "no match was found"

    def _ready(self, _: c.Ready) -> str | None:
        if self._results <= 0:
            return "no result was shown"
        self._results -= 1
        return None

    def _leave(self, message: c.Leave) -> str | None:
        objection = self._logged_in(message)
        self.session.leave()
        self.session.outbox()
        return objection

    def _answer(self, message: c.ClientMessage) -> str | Objection | None:
        seat = self.session.seat
        objection = seat.objection(message) if seat is not None else "no game is running"
        if objection is None:
            assert seat is not None
            seat.observe(message)
            self._answered = message
            return None
        if self._answered is not None and isinstance(message, c.Respond):
            return Objection("the offer has already been answered", SECOND_ANSWER)
        return objection


_HANDLERS: Final[dict[type[m.ServerMessage], Callable[[ClientConduct, Any], None]]] = {
    m.Hello: ClientConduct._on_hello,
    m.MatchFound: ClientConduct._on_match,
    m.GameBegins: ClientConduct._on_ready,
    m.RoundWon: ClientConduct._on_ready,
    m.RoundDrawn: ClientConduct._on_ready,
    m.RoundDealt: ClientConduct._on_deal,
    m.QueueAgain: ClientConduct._on_ticket,
}

_RULES: Final[dict[type[c.ClientMessage], Callable[[ClientConduct, Any], str | Objection | None]]] = {
    c.KeepAlive: ClientConduct._always,
    c.AskPolicy: ClientConduct._before_login,
    c.AskProgram: ClientConduct._before_login,
    c.Login: ClientConduct._login,
    c.AuthReply: ClientConduct._auth,
    c.ShowStatistics: ClientConduct._logged_in,
    c.Say: ClientConduct._logged_in,
    c.AskDate: ClientConduct._logged_in,
    c.AskEcho: ClientConduct._logged_in,
    c.GetFile: ClientConduct._logged_in,
    c.MoveLobby: ClientConduct._in_lobby,
    c.JoinTournament: ClientConduct._in_lobby,
    c.WatchGame: ClientConduct._in_lobby,
    c.Queue: ClientConduct._queue,
    c.AcceptMatch: ClientConduct._accept,
    c.Ready: ClientConduct._ready,
    c.Leave: ClientConduct._leave,
    **dict.fromkeys(_ANSWERS, ClientConduct._answer),
}
