"""Checks a recorded client's frames: whether our session would have allowed each one when it was sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.core import Session, SessionSettings, Stage
from bot.tenhou.session.events import SessionEvent
from bot.tenhou.session.seat import Seat
from bot.tenhou.session.translate import TABLE_MESSAGES
from game.actions import RIICHI, Action, ActionKind
from game.events import Riichi
from game.forbidden import why_not
from game.rules import legal_actions
from game.state import apply, clone, hand_tiles
from game.tiles import face_of
from kit.errors import StateMismatchError

_TICKET: Final = re.compile(r"[0-9]{1,5},[0-9]{1,4}")
_KINDS: Final = {
    choice: ActionKind[choice.name] for choice in c.ResponseType if choice is not c.ResponseType.NORTH
}

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
        self.matches = 0  # not yet accepted by the client
        self._results = 0  # not yet followed by a ready
        self._challenges = 0
        self._ticket = ""
        self._answered = False

    def server(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Take a frame from the server.

        Raises:
            StateMismatchError: the frame contradicts the state.
        """
        events = self.session.take(message)
        self.session.outbox()
        match message:
            case m.Hello():
                self._challenges = int(message.auth != "")
            case m.MatchFound():
                self.matches = 1
            case m.GameBegins() | m.RoundWon() | m.RoundDrawn():
                # Each result of a double ron may be followed by a ready: bots sent two, the web client one.
                self._results += 1
            case m.RoundDealt():
                self._results = 0
            case m.QueueAgain():
                self._ticket = message.ticket
        if isinstance(message, TABLE_MESSAGES):
            self._answered = False
        return events

    def client(self, message: c.ClientMessage) -> Objection | None:
        """Check a frame from the client, and continue as if we had sent it."""
        rule = _RULES.get(type(message))
        if rule is None:
            return Objection(f"we never send {type(message).__name__}")
        found = rule(self, message)
        return Objection(found) if isinstance(found, str) else found

    @property
    def _is_out(self) -> bool:
        return self.session.stage in (Stage.NEW, Stage.LOGIN, Stage.CLOSED)

    def _always(self, _: c.ClientMessage) -> None:
        return None

    def _login(self, _: c.Login) -> None:
        # The first frame of every connection, so it also marks a replaced connection.
        self.session.reconnect()
        self.matches = self._results = 0

    def _before_login(self, _: c.ClientMessage) -> str | None:
        return None if self._is_out else "only before the login"

    def _auth(self, _: c.AuthReply) -> str | None:
        due, self._challenges = self._challenges, 0
        return None if due else "no challenge is open"

    def _logged_in(self, _: c.ClientMessage) -> str | None:
        return "not logged in" if self._is_out else None

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
        due, self.matches = self.matches, 0
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
        if seat is None:
            return "no game is running"
        objection = _objection(message, seat)
        if objection is None:
            seat.turn.prompt = None
            seat.turn.riichi.note_answer(is_riichi=isinstance(message, c.DeclareRiichi))
            self._answered = True
        elif self._answered and isinstance(message, c.Respond):
            return Objection("the offer has already been answered", SECOND_ANSWER)
        return objection


_RULES: Final[dict[type[c.ClientMessage], Callable[[ClientConduct, Any], str | Objection | None]]] = {
    c.KeepAlive: ClientConduct._always,
    **dict.fromkeys((c.AskPolicy, c.AskProgram), ClientConduct._before_login),
    c.Login: ClientConduct._login,
    c.AuthReply: ClientConduct._auth,
    **dict.fromkeys((c.ShowStatistics, c.Say, c.AskDate, c.AskEcho, c.GetFile), ClientConduct._logged_in),
    **dict.fromkeys((c.MoveLobby, c.JoinTournament, c.WatchGame), ClientConduct._in_lobby),
    c.Queue: ClientConduct._queue,
    c.AcceptMatch: ClientConduct._accept,
    c.Ready: ClientConduct._ready,
    c.Leave: ClientConduct._leave,
    **dict.fromkeys((c.DiscardTile, c.DeclareRiichi, c.Respond), ClientConduct._answer),
}


# --- answers to prompts ----------------------------------------------------------------------------------


def _objection(message: c.ClientMessage, seat: Seat) -> str | None:
    """Why our session would not have sent an answer now, or None if it could have."""
    record, prompt = seat.round.record, seat.turn.prompt
    if seat.turn.riichi.is_pending and isinstance(message, c.DiscardTile):
        return _objection_in_riichi(message, record, seat.player)
    if prompt is None:
        return "no prompt is open"
    if seat.is_returning:
        return None
    if isinstance(message, c.DeclareRiichi) and message.tile >= 0:
        return _objection_to(c.DeclareRiichi(), prompt.legal, record, seat.player) or _objection_in_riichi(
            c.DiscardTile(message.tile), record, seat.player
        )
    return _objection_to(message, prompt.legal, record, seat.player)


def _objection_in_riichi(message: c.DiscardTile, record: np.void, player: int) -> str | None:
    """As `_objection_to`, after a riichi that is not confirmed: the discard must keep the hand tenpai."""
    declared = clone(record)
    try:
        apply(declared, Riichi(player))
    except StateMismatchError as exc:
        return str(exc)
    return _objection_to(message, legal_actions(declared, player), declared, player)


def _objection_to(
    message: c.ClientMessage, legal: Sequence[Action], record: np.void, player: int
) -> str | None:
    """Why a frame is not one of the legal choices, or None if it is; tiles of the same face are equal."""
    action = _meant(message)
    if action is None:
        return "the frame does not answer a prompt"
    if _is_one_of(action, legal, record, player):
        return None
    return why_not(record, player, action) or f"{action.kind.name.lower()} is not offered"


def _meant(message: c.ClientMessage) -> Action | None:
    """The action a frame asks for; tiles that it leaves out may be any."""
    if isinstance(message, c.DiscardTile):
        return Action(ActionKind.DISCARD, message.tile)
    if isinstance(message, c.DeclareRiichi):
        return RIICHI
    if not isinstance(message, c.Respond) or message.choice not in _KINDS:
        return None
    kind, tiles = _KINDS[message.choice], message.tiles
    if kind is ActionKind.KAKAN:
        return Action(kind, tiles[0])
    if kind is ActionKind.ANKAN:
        tiles = tuple(range(tiles[0] & ~3, (tiles[0] | 3) + 1))
    return Action(kind, consumed=tiles)


def _is_one_of(action: Action, legal: Sequence[Action], record: np.void, player: int) -> bool:
    chosen = tuple(tile for tile in (action.tile, *action.consumed) if tile >= 0)
    hand = hand_tiles(record, player)
    if not all(tile in hand for tile in chosen):
        return False
    sort_of: Callable[[int], int] = int if record["riichi"][player] == 2 else face_of
    return any(
        action.kind is each.kind
        and (action.tile < 0 or sort_of(action.tile) == sort_of(each.tile))
        and (not action.consumed or _faces(action.consumed) == _faces(each.consumed))
        for each in legal
    )


def _faces(tiles: Sequence[int]) -> list[int]:
    return sorted(map(face_of, tiles))
