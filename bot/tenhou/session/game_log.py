"""The events of a game as received at our seat, and those of the running round."""

from __future__ import annotations

from collections.abc import Sequence

from game.events import DrawnRound, EndRound, GameEvent, StartGame, StartRound, Win


class GameLog:
    """A game's events in order; empty until the game has begun.

    Attributes:
        events: all events in one list; only the events of the running round are ever replaced or removed.
    """

    def __init__(self) -> None:
        self.events: list[GameEvent] = []
        self._round_start = 0

    @property
    def is_open(self) -> bool:
        """Whether the game has begun."""
        return bool(self.events)

    def open(self, start: StartGame) -> None:
        """Begin the game."""
        self.events.append(start)
        self._round_start = 1

    def add(self, event: GameEvent) -> None:
        """Append an event."""
        self.events.append(event)

    # --- the running round ---------------------------------------------------------------------------

    @property
    def round(self) -> list[GameEvent]:
        """A copy of the events of the running round or, between rounds, of those since the last round."""
        return self.events[self._round_start :]

    @property
    def result(self) -> Win | DrawnRound | None:
        """The last result of the running round, None if it has not ended."""
        for event in reversed(self.round):
            if isinstance(event, Win | DrawnRound):
                return event
        return None

    def has_won(self, player: int) -> bool:
        """Whether a player has won the running round."""
        return any(isinstance(event, Win) and event.player == player for event in self.round)

    def begin_round(self, start: StartRound) -> None:
        """Add the deal that begins a round."""
        self._round_start = len(self.events)
        self.events.append(start)

    def end_round(self) -> None:
        """Mark the running round as complete."""
        self.events.append(EndRound())
        self._round_start = len(self.events)

    def replace_round(self, events: Sequence[GameEvent]) -> None:
        """Replace the events of the running round."""
        self.events[self._round_start :] = events

    def drop_round(self) -> None:
        """Remove the running round, part of which was missed."""
        del self.events[self._round_start :]
