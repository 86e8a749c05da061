"""What the game tells the dashboard, and how: never waiting, never failing, never more than fits.

The game's side only puts small immutable things into a list; everything else, down to the first line of JSON,
is done by the dashboard's own thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

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
from replays.record import DecisionRecord
from replays.standing import Standing

MAX_WAITING: Final = 50_000
"""Things that may wait for a dashboard that does not come round to them; a long game has some thousands."""
_FEW: Final = 2
"""Lost and what comes after it: as long as no more waits, the dashboard may be asleep."""
_BACK: Final = 4
"""Events that one frame may bring at once."""


LineState: TypeAlias = Literal["connecting", "open", "waiting", "playing", "lost", "closing", "over"]
"""Words that the page knows."""


class Began(msgspec.Struct, frozen=True):
    """A game begins."""

    game: GameStarted
    game_id: str


class Happened(msgspec.Struct, frozen=True):
    """One more event of the running game."""

    event: GameEvent


class Restated(msgspec.Struct, frozen=True):
    """The running game anew: after a break in the line it reads otherwise than it did."""

    events: tuple[GameEvent, ...]


class Decided(msgspec.Struct, frozen=True):
    """A decision of ours went out; latency from frame in to reply out, ``late`` counts the whole run's."""

    made: DecisionRecord
    latency_ms: float
    late: int


class Finished(msgspec.Struct, frozen=True):
    """A game is over.

    Attributes:
        game_id: of its record.
        player: who we were, absolute.
        placements: by player.
        scores: final points by player.
        results: uma and oka included, in tenths.
    """

    game_id: str
    player: int
    placements: Four
    scores: Four
    results: Four


class Missed(msgspec.Struct, frozen=True):
    """A game ended while we were away."""


class Line(msgspec.Struct, frozen=True):
    """How the connection to the game server stands."""

    state: LineState


class Lost(msgspec.Struct, frozen=True):
    """Too much waited and was thrown away: what follows up to the next game makes no sense."""


class Reached(msgspec.Struct, frozen=True):
    """A run of many games has come so far."""

    standing: Standing


Item: TypeAlias = Began | Happened | Restated | Decided | Finished | Missed | Line | Lost | Reached


class Feed:
    """From the game's thread to the dashboard's.

    Args:
        limit: of what may wait.
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
        """Leave something for the dashboard."""
        with self._lock:
            if len(self._waiting) >= self._limit:
                self._waiting = [Lost()]
            self._waiting.append(item)
            wake = self._wake if len(self._waiting) <= _FEW else None
        if wake is not None:
            wake()

    def hear(self, event: SessionEvent, log: Sequence[GameEvent], game_id: str, player: int) -> None:
        """A session has something to tell.

        Args:
            event: what.
            log: the running game as the session knows it.
            game_id: of that game.
            player: who we are in it, absolute.
        """
        match event:
            case GameStarted():
                self._told, self._last = 0, None
                self.put(Began(event, game_id))
            case TableEvent():
                self.follow(log, event.event)
            case Resumed():
                self.follow(log)
                self.put(Line("playing"))
            case GameEnded():
                self.put(Finished(game_id, player, event.placements, event.scores, event.results))
            case GameMissed():
                self.put(Missed())
            case LoggedIn() | Queued():
                self.put(Line("waiting"))
            case ServerClosing():
                self.put(Line("closing"))

    def follow(self, log: Sequence[GameEvent], event: GameEvent | None = None) -> None:
        """The running game has gone on.

        Args:
            log: all of it, perhaps some events further already.
            event: what has happened; None if the log may read otherwise than before.
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
        """Have this called, on the game's thread, when something has been left; it must not wait or fail."""
        with self._lock:
            self._wake = wake

    def take(self) -> list[Item]:
        """Everything left since the last time."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken
