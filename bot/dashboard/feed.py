"""The feed from the game to the dashboard: it never blocks or raises, and its size is limited.

The game only appends small immutable items to a list; the dashboard's own thread does everything else,
including all JSON.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from bot.adaptation.status import AdaptationStatus
from bot.tenhou.session.events import (
    GameEnded,
    GameMissed,
    GameStarted,
    LoggedIn,
    Queued,
    Resumed,
    ServerClosing,
    SessionEvent,
    TableEvent,
)
from game.events import Four, GameEvent
from replays.record import JAPAN, DecisionRecord

if TYPE_CHECKING:
    from replays.review.schema import CandidateHands

MAX_WAITING: Final = 50_000
"""Items that may wait for a slow dashboard; a long game has some thousands."""
_FEW: Final = 2
"""`Lost` and the item after it: if no more items wait, the dashboard may be asleep."""
_BACK: Final = 4
"""Maximum number of events from one frame."""


LineState: TypeAlias = Literal["connecting", "open", "waiting", "playing", "lost", "closing", "over"]
"""Words known to the page."""


class Item(msgspec.Struct, frozen=True):
    """Anything the dashboard is told."""


class Began(Item, frozen=True):
    """The start of a game, `date` in Japan."""

    game: GameStarted
    game_id: str
    date: datetime


class Happened(Item, frozen=True):
    """A further event of the running game."""

    event: GameEvent


class Restated(Item, frozen=True):
    """The running game from its start: after a lost connection its earlier events may differ."""

    events: tuple[GameEvent, ...]


class DecisionSent(Item, frozen=True):
    """A decision that was sent; latency from frame received to reply sent, ``late`` counts the whole run."""

    made: DecisionRecord
    latency_ms: float
    late: int


class Finished(Item, frozen=True):
    """A game is over.

    Attributes:
        game_id: id of its record.
        player: our absolute number.
        placements: by player.
        scores: final points by player.
        results: including uma and oka, in tenths.
    """

    game_id: str
    player: int
    placements: Four
    scores: Four
    results: Four


class Missed(Item, frozen=True):
    """A game that ended while we were disconnected."""


class LineStateChanged(Item, frozen=True):
    """The state of the connection to the game server."""

    state: LineState


class HandsGuessed(Item, frozen=True):
    """Hands that the opponents may hold at a decision that was sent.

    Attributes:
        game_id: id of the game's record.
        round: number of the round in the game.
        event: number of the event in the round that the decision follows.
        hands: by model.
    """

    game_id: str
    round: int
    event: int
    hands: tuple[CandidateHands, ...]


class Adapting(Item, frozen=True):
    """Progress of adapting to the current round; None if it is not adapted to."""

    status: AdaptationStatus | None


class Lost(Item, frozen=True):
    """Items were dropped because too many waited; items up to the next game are meaningless."""


class Feed:
    """A queue from the game's thread to the dashboard's.

    Args:
        limit: maximum number of waiting items.
    """

    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Item] = []
        self._limit = limit
        self._wake: Callable[[], None] | None = None
        self._told = 0
        self._last: GameEvent | None = None

    # --- the game's side --------------------------------------------------------------------------------

    def put(self, item: Item) -> None:
        """Add an item for the dashboard."""
        with self._lock:
            if len(self._waiting) >= self._limit:
                self._waiting = [Lost()]
            self._waiting.append(item)
            wake = self._wake if len(self._waiting) <= _FEW else None
        if wake is not None:
            wake()

    def hear(self, event: SessionEvent, log: Sequence[GameEvent], game_id: str, player: int) -> None:
        """Add an event of the session.

        Args:
            event: event of the session.
            log: the running game as the session knows it.
            game_id: id of that game.
            player: our absolute number in it.
        """
        match event:
            case GameStarted():
                self._told, self._last = 0, None
                self.put(Began(event, game_id, datetime.now(JAPAN)))
            case TableEvent():
                self.follow(log, event.event)
            case Resumed():
                self.follow(log)
                self.put(LineStateChanged("playing"))
            case GameEnded():
                self.put(Finished(game_id, player, event.placements, event.scores, event.results))
            case GameMissed():
                self.put(Missed())
            case LoggedIn() | Queued():
                self.put(LineStateChanged("waiting"))
            case ServerClosing():
                self.put(LineStateChanged("closing"))

    def follow(self, log: Sequence[GameEvent], event: GameEvent | None = None) -> None:
        """Add the progress of the running game.

        Args:
            log: all its events, possibly including later ones.
            event: the new event; None if earlier events of the log may have changed.
        """
        told = self._told
        continued = 0 < told <= len(log) and log[told - 1] is self._last
        if event is not None and (continued or not told) and told < len(log) and log[told] == event:
            self._told, self._last = told + 1, log[told]
            self.put(Happened(event))
        elif not (continued and (told == len(log) or event in log[max(0, told - _BACK) : told])):
            self._told, self._last = len(log), log[-1] if log else None
            self.put(Restated(tuple(log)))

    # --- the dashboard's side ---------------------------------------------------------------------------

    def on_put(self, wake: Callable[[], None] | None) -> None:
        """Set the function called on the game's thread when an item is added; it must not block or raise."""
        with self._lock:
            self._wake = wake

    def take(self) -> list[Item]:
        """All items added since the last call."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken
