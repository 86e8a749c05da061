"""What a session tells its owner, one frozen struct a kind."""

from __future__ import annotations

import msgspec

from game.actions import Action
from game.events import Four, GameEvent
from game.settlement import GameLength


class SessionEvent(msgspec.Struct, frozen=True):
    """Anything a session reports."""


class LoggedIn(SessionEvent, frozen=True):
    """The login was accepted; ``name`` is our public name."""

    name: str


class Queued(SessionEvent, frozen=True):
    """We wait for a table; ``again`` when the server asked us to queue once more."""

    ticket: str
    again: bool = False


class Rejected(SessionEvent, frozen=True):
    """The server refused us.

    Attributes:
        code: the server's error code, or a word of ours (``unsupported``).
        text: what it means and what to do.
        retry: waiting may help (the player is still connected elsewhere, a server is silent).
    """

    code: str
    text: str
    retry: bool = False


class Replaced(SessionEvent, frozen=True):
    """Somebody logged in with the same id while we played: stop, do not take the seat back."""


class LoginAgainLater(SessionEvent, frozen=True):
    """The server wants a new login after a pause."""

    delay_s: float


class ServerClosing(SessionEvent, frozen=True):
    """The server is about to close."""


class ServerText(SessionEvent, frozen=True):
    """Words from the server or from other people: show them cleaned, never act on them."""

    name: str
    text: str


class GameStarted(SessionEvent, frozen=True):
    """A game begins.

    Attributes:
        game_id: of the record, empty where none is kept.
        names: by absolute player.
        length: hanchan or tonpuu.
        game_type: number of the type.
        lobby: number of the lobby.
        player: who we are, absolute.
        ranks: rank index by absolute player.
        rates: rating by absolute player.
        sexes: ``M``, ``F`` or ``C`` for a computer, by absolute player.
        is_named: whether the server has said what kind of table it is; else it is the one we queued for.
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
    """We have a choice; answer with `Session.answer`.

    Attributes:
        prompt_id: grows by one with every prompt of the session.
        legal: what we may do, never empty.
        offered: the server's OFFER_* bits, 0 where it asks without any.
        mismatch: where the server's offer and our own legal set differ, else None.
    """

    prompt_id: int
    legal: tuple[Action, ...]
    offered: int = 0
    mismatch: str | None = None


class PromptClosed(SessionEvent, frozen=True):
    """The table went on without our answer."""

    prompt_id: int


class Disagreement(SessionEvent, frozen=True):
    """The server sees something otherwise than we do, and nothing is asked of us because of it."""

    subject: str
    detail: str


class RoundEnded(SessionEvent, frozen=True):
    """A round's scores are settled."""

    round_index: int
    honba: int
    scores: Four


class GameEnded(SessionEvent, frozen=True):
    """The game is over: final points, results in tenths and places 1–4, all by absolute player."""

    scores: Four
    results: Four
    placements: Four


class GameMissed(SessionEvent, frozen=True):
    """The game ended while we were away; its result was not told."""


class Resumed(SessionEvent, frozen=True):
    """We are back in a running game.

    Attributes:
        round_index: the round it is in.
        honba: its repeats.
        exact: our own record of the round reached up to now, or could be continued; otherwise the round
            was rebuilt from what lies open and its finer points are guesses.
    """

    round_index: int
    honba: int
    exact: bool


class StateLost(SessionEvent, frozen=True):
    """The snapshot could not be understood: until the next deal we throw what we draw and call nothing."""

    reason: str


class UnknownTag(SessionEvent, frozen=True):
    """The server used a tag, or an attribute of a tag, that this version does not know; told once a kind."""

    tag: str
    attribute: str = ""
