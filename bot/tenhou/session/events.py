"""Events that a session reports to its caller, one frozen struct per kind."""

from __future__ import annotations

from typing import Final

import msgspec

from game.actions import Action
from game.events import Four, GameEvent
from game.scoring.settlement import GameLength


class SessionEvent(msgspec.Struct, frozen=True):
    """Anything a session reports."""


class LoggedIn(SessionEvent, frozen=True):
    """The login was accepted; ``name`` is our public name."""

    name: str


class Queued(SessionEvent, frozen=True):
    """We are waiting for a table; ``again`` if the server asked us to queue once more."""

    ticket: str
    again: bool = False


class Rejected(SessionEvent, frozen=True):
    """The server refused a login or a request, or offered a game we cannot play.

    Attributes:
        code: the server's error code, or our own ``unsupported``.
        text: the meaning of the code and the remedy.
    """

    code: str
    text: str


class Replaced(SessionEvent, frozen=True):
    """The same id logged in elsewhere during our game: stop, and do not reclaim the seat."""


class LoginAgainLater(SessionEvent, frozen=True):
    """The server requests a new login after a pause."""

    delay_s: float


class ServerClosing(SessionEvent, frozen=True):
    """The server is about to close."""


class ServerText(SessionEvent, frozen=True):
    """Text from the server or from other people: sanitize it for display, never act on it."""

    name: str
    text: str


class GameStarted(SessionEvent, frozen=True):
    """A game begins.

    Attributes:
        game_id: id of the server's record, empty if it keeps none.
        names: by absolute player.
        length: hanchan or tonpuu.
        game_type: Tenhou's number for the game type.
        lobby: number of the lobby.
        player: our absolute player number.
        ranks: rank index by absolute player.
        rates: rating by absolute player.
        sexes: ``M``, ``F`` or ``C`` for a computer, by absolute player.
        is_named: whether the server has named the game type; otherwise it is the one we queued for.
    """

    game_id: str
    names: tuple[str, str, str, str]
    length: GameLength
    game_type: int
    lobby: str
    player: int
    ranks: Four = (0, 0, 0, 0)
    rates: tuple[float, float, float, float] = (1500.0, 1500.0, 1500.0, 1500.0)
    sexes: tuple[str, str, str, str] = ("M", "M", "M", "M")
    is_named: bool = True


class TableEvent(SessionEvent, frozen=True):
    """One event has been folded into the state."""

    event: GameEvent


class PromptOpened(SessionEvent, frozen=True):
    """We must choose an action; answer with `Session.answer`.

    Attributes:
        prompt_id: increases by one with every prompt of the session.
        legal: the legal actions, never empty.
        offered: the server's OFFER_* bits, 0 if the prompt has none.
        mismatch: the difference between the server's offer and our legal set, or None.
    """

    prompt_id: int
    legal: tuple[Action, ...]
    offered: int = 0
    mismatch: str | None = None


class PromptClosed(SessionEvent, frozen=True):
    """The game continued without our answer."""

    prompt_id: int


class Disagreement(SessionEvent, frozen=True):
    """The server's state differs from ours in a way that needs no answer."""

    subject: str
    detail: str


class RoundEnded(SessionEvent, frozen=True):
    """A round has ended and its scores are settled."""

    round_index: int
    honba: int
    scores: Four


class GameEnded(SessionEvent, frozen=True):
    """The game is over: final points, results in tenths and places 1–4, all by absolute player."""

    scores: Four
    results: Four
    placements: Four


class GameMissed(SessionEvent, frozen=True):
    """The running game is over, and we did not see its end; its result is unknown.

    Attributes:
        why: what shows that it is over.
        events: the game up to there, as far as we saw it; empty if it had not begun.
    """

    why: str
    events: tuple[GameEvent, ...] = ()


class Resumed(SessionEvent, frozen=True):
    """We have rejoined a running game.

    Attributes:
        round_index: index of the current round.
        honba: repeat count of the round.
        exact: our own record of the round was complete or could be continued; otherwise the round was rebuilt
            from the visible tiles, and details such as the order of events are guesses.
    """

    round_index: int
    honba: int
    exact: bool


class StateLost(SessionEvent, frozen=True):
    """The snapshot cannot be explained: until the next deal we discard each drawn tile and call nothing."""

    reason: str


class UnknownTag(SessionEvent, frozen=True):
    """The server used a tag or an attribute that this version does not know; reported once per kind."""

    tag: str
    attribute: str = ""


_TEXTS: Final[dict[str, str]] = {
    "1001": "the name has characters the server does not allow; choose another",
    "1002": "the name belongs to a registered id; log in with that id",
    "1003": "the id is invalid, suspended or deleted; check it before you try again",
    "1004": "this player is still connected; try again later",
    "1005": "the name is taken; choose another",
    "1006": "this IP address may not register a new id for about seven days",
    "1012": "a new id was registered",
    "1019": "the tournament lobby does not exist; check its number",
    "1020": "this needs an id with paid days",
    "1021": "the external login server does not respond; try again later",
    "1027": "registration for the tournament is complete",
}


def rejection(code: str) -> Rejected:
    """The rejection for an error code of the server.

    Source: the texts of the official client.
    """
    unknown = "the server refused the request with a code that is not documented"
    return Rejected(code, _TEXTS.get(code, unknown))
