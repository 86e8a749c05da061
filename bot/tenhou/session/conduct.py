"""Whether a recorded client's frames are ones our session would have allowed where they were sent."""

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
_ANSWERS: Final = (c.Throw, c.DeclareRiichi, c.Respond)

SECOND_ANSWER: Final = "second answer"
"""An offer was answered, and answered again before the server said anything."""


class Objection(msgspec.Struct, frozen=True):
    """Why a frame would not have been allowed; ``kind`` names a known habit of recorded clients."""

    reason: str
    kind: str = ""


class Conduct:
    """A session that follows a recorded connection, both ways."""

    def __init__(self) -> None:
        self.session = Session(SessionSettings(auto_queue=False))
        self._matches = 0  # to be accepted
        self._results = 0  # to be followed by a ready
        self._challenges = 0
        self._ticket = ""
        self._answered: c.ClientMessage | None = None

    def server(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Take a frame of the server.

        Raises:
            StateMismatchError: it does not fit.
        """
        events = self.session.take(message)
        self.session.outbox()
        note = _NOTES.get(type(message))
        if note is not None:
            note(self, message)
        if isinstance(message, TABLE_MESSAGES):
            self._answered = None
        return events

    def client(self, message: c.ClientMessage) -> Objection | None:
        """Judge a frame of the client, and go on as if it had been sent."""
        rule = _RULES.get(type(message))
        if rule is None:
            return Objection(f"we never send {type(message).__name__}")
        found = rule(self, message)
        return Objection(found) if isinstance(found, str) else found

    def watch(self) -> None:
        """The client was let in to watch a game, which it has to accept; our session never watches."""
        self._matches = 1

    # --- what the server's frames make due -----------------------------------------------------------

    def _note_hello(self, message: m.Hello) -> None:
        self._challenges = int(message.auth != "")

    def _note_match(self, _: m.MatchFound) -> None:
        self._matches = 1

    def _note_ready(self, _: m.ServerMessage) -> None:
        # With a double ron one is due for each result: bots sent two, the web client sends one.
        self._results += 1

    def _note_deal(self, _: m.ServerMessage) -> None:
        self._results = 0

    def _note_ticket(self, message: m.QueueAgain) -> None:
        self._ticket = message.ticket

    # --- what the client may send --------------------------------------------------------------------

    def _always(self, _: c.ClientMessage) -> None:
        return None

    def _login(self, _: c.Login) -> None:
        # Comes first on every connection, so it also tells that a line was replaced.
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
        objection = self._in_lobby(message)
        if objection or not message.ticket or _TICKET.fullmatch(message.ticket):
            return objection
        due, self._ticket = self._ticket, ""
        return None if message.ticket == due else f"nobody gave us the ticket {message.ticket!r}"

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
            return Objection("the offer was answered already; one answer is enough", SECOND_ANSWER)
        return objection


_NOTES: Final[dict[type[m.ServerMessage], Callable[[Conduct, Any], None]]] = {
    m.Hello: Conduct._note_hello,
    m.MatchFound: Conduct._note_match,
    m.GameBegins: Conduct._note_ready,
    m.RoundWon: Conduct._note_ready,
    m.RoundDrawn: Conduct._note_ready,
    m.RoundDealt: Conduct._note_deal,
    m.QueueAgain: Conduct._note_ticket,
}

_RULES: Final[dict[type[c.ClientMessage], Callable[[Conduct, Any], str | Objection | None]]] = {
    c.KeepAlive: Conduct._always,
    c.AskPolicy: Conduct._before_login,
    c.AskProgram: Conduct._before_login,
    c.Login: Conduct._login,
    c.AuthReply: Conduct._auth,
    c.ShowStatistics: Conduct._logged_in,
    c.Say: Conduct._logged_in,
    c.AskDate: Conduct._logged_in,
    c.AskEcho: Conduct._logged_in,
    c.GetFile: Conduct._logged_in,
    c.MoveLobby: Conduct._in_lobby,
    c.JoinTournament: Conduct._in_lobby,
    c.Watch: Conduct._in_lobby,
    c.Queue: Conduct._queue,
    c.AcceptMatch: Conduct._accept,
    c.Ready: Conduct._ready,
    c.Leave: Conduct._leave,
    **dict.fromkeys(_ANSWERS, Conduct._answer),
}
