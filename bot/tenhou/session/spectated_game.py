"""A table watched with open hands, while spectating or from a record file; uses the fold of our own games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.translate import TABLE_MESSAGES, translate
from game.events import EndGame, EndRound, Four, GameEvent, StartGame, Win
from game.scoring.settlement import final_scores
from game.state import apply, new_round
from kit.errors import StateMismatchError


class SpectatedGame:
    """A game seen from no seat: seats and absolute players are the same.

    Args:
        doubtful: the first frames may be of another table.

    Attributes:
        record: the round's state, all hands known.
        log: every event of the game or, after joining late, from the deal of the round joined.
        over: whether the final scores have arrived.
    """

    def __init__(self, *, doubtful: bool = False) -> None:
        self.record: np.void = new_round()
        self.log: list[GameEvent] = []
        self.over = False
        self._ended = False
        self._doubtful = doubtful
        self._winners: set[int] = set()

    def take(self, message: m.ServerMessage) -> list[GameEvent]:
        """Fold one frame and return its events.

        A deal in the middle of a round is followed. Until the next one, frames that contradict it are passed
        over: they may be of the other round.

        Raises:
            StateMismatchError: the frame contradicts the state.
        """
        handler = _HANDLERS.get(type(message))
        try:
            events: list[GameEvent] = handler(self, message) if handler else []
        except StateMismatchError:
            if not self._doubtful or isinstance(message, m.RoundDealt):
                raise
            self._ended |= isinstance(message, m.RoundWon | m.RoundDrawn)
            events = []
        self.log += events
        return events

    def _batch(self, message: m.WatchedFrames) -> list[GameEvent]:
        if message.kind == "INITBYLOG":
            # The round so far, sent to a spectator who joins late.
            self.record = new_round()
            self._ended = self._doubtful = False
        told = []
        for item in message.items:
            if not isinstance(item, int):
                told += self.take(item)
        del self.log[len(self.log) - len(told) :]
        return told

    def _players(self, message: m.PlayerNames) -> list[GameEvent]:
        return [StartGame(message.names)]

    def _table(self, message: m.ServerMessage) -> list[GameEvent]:
        event = translate(message, self.record, 0)
        assert event is not None
        if isinstance(event, Win) and event.player in self._winners:
            raise StateMismatchError(f"player {event.player} has already won")
        if isinstance(message, m.RoundDealt):
            self._deal(event)
        else:
            apply(self.record, event)
        if not isinstance(message, m.RoundDealt):
            return [event]
        self._winners = set()
        ended, self._ended = self._ended, False
        return [EndRound(), event] if ended else [event]

    def _deal(self, start: GameEvent) -> None:
        """Begin a round, whether or not it follows from the one before."""
        try:
            apply(self.record, start)
            self._doubtful = False
        except StateMismatchError:
            dealt = new_round()
            apply(dealt, start)  # raises if no round can begin so
            self.record, self._doubtful = dealt, True

    def _result(self, message: m.RoundWon | m.RoundDrawn) -> list[GameEvent]:
        events = self._table(message)
        self._ended = True
        if isinstance(events[0], Win):
            self._winners.add(events[0].player)
        if message.final is None:
            return events
        scores: Four = message.final.scores
        a, b, c, d = map(int, self.record["scores"])
        if final_scores((a, b, c, d), int(self.record["riichi_sticks"])) != scores:
            raise StateMismatchError(f"the game ends with the scores {scores}, we have {(a, b, c, d)}")
        self.over = True
        return [*events, EndRound(), EndGame(scores, message.final.results)]


_HANDLERS: Final[dict[type[m.ServerMessage], Callable[[SpectatedGame, Any], list[GameEvent]]]] = {
    **dict.fromkeys(TABLE_MESSAGES, SpectatedGame._table),
    m.RoundWon: SpectatedGame._result,
    m.RoundDrawn: SpectatedGame._result,
    m.PlayerNames: SpectatedGame._players,
    m.WatchedFrames: SpectatedGame._batch,
}
