"""A game's log, and one round as we know it: its record, the source of that record, how frames change it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

import numpy as np

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.events import Disagreement
from bot.tenhou.session.resume import Candidate, Comeback, with_riichi
from bot.tenhou.session.translate import translate
from game.events import DrawnRound, EndRound, Four, GameEvent, StartGame, StartRound, Win
from game.layout import PHASE_CALLED
from game.scoring.settlement import final_scores
from game.state import apply, clone, is_furiten, new_round
from kit.errors import StateMismatchError


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


class RoundSource(Enum):
    """Where the record of a round comes from."""

    WATCHED = "we received every frame since the deal"
    CONTINUED = "we rejoined it; the snapshot continues the events received before without a gap"
    REBUILT = "we rejoined it; the order of its events is a guess"
    UNEXPECTED = "its deal came in the middle of another round; the next frames may still be of that one"


_SOURCES: Final = {True: RoundSource.CONTINUED, False: RoundSource.REBUILT}
"""By whether the explanation of the snapshot is exact."""


class KnownRound:
    """A round folded from frames; its events are in the game's log.

    Args:
        player: our absolute player number, -1 if unknown.
        log: the game's log.
        record: the round's state; without it, an empty record.
        comeback: the snapshot's possible explanations, until the next frame decides between them.

    Attributes:
        source: where the record comes from.
    """

    def __init__(
        self,
        player: int,
        log: GameLog,
        record: np.void | None = None,
        comeback: Comeback | None = None,
    ) -> None:
        self.record = new_round() if record is None else record
        self.source = RoundSource.WATCHED
        self._player = player
        self._log = log
        self._comeback = comeback
        self._stated_furiten: bool | None = None  # as the server last stated it, not compared yet

    @classmethod
    def rejoined(cls, message: m.RoundSnapshot, player: int, log: GameLog) -> KnownRound | None:
        """The round of a snapshot, added to the log; None if the snapshot cannot be explained."""
        comeback = Comeback(message, player, log.round)
        first = comeback.first()
        if first is None:
            return None
        known = cls(player, log, comeback=comeback)
        known._take(first)
        return known

    @property
    def is_exact(self) -> bool:
        """Whether scores and furiten are certain enough to compare with the server's."""
        return self.source in (RoundSource.WATCHED, RoundSource.CONTINUED)

    @property
    def place(self) -> tuple[int, int]:
        """Index and honba of the round."""
        return int(self.record["round_index"]), int(self.record["honba"])

    @property
    def scores(self) -> Four:
        """Points by player."""
        a, b, c, d = map(int, self.record["scores"])
        return a, b, c, d

    @property
    def we_called(self) -> bool:
        """Whether we have called a tile and must discard."""
        return bool(self.record["phase"] == PHASE_CALLED and self.record["turn"] == self._player)

    # --- folding -------------------------------------------------------------------------------------

    def fold(self, message: m.ServerMessage) -> GameEvent:
        """Fold a frame's event into the record, add it to the log and return it.

        Raises:
            StateMismatchError: the frame contradicts the record; nothing has changed.
        """
        event = translate(message, self.record, self._player, strict=self.is_exact)
        assert event is not None
        _check_result(self._log, event)
        self.take(event)
        return event

    def take(self, event: GameEvent) -> None:
        """Fold an event into the record and add it to the log.

        Raises:
            StateMismatchError: the event contradicts the record; nothing has changed.
        """
        apply(self.record, event)
        self._log.add(event)

    # --- comparing with the server -------------------------------------------------------------------

    def compare_final(self, scores: Four) -> list[Disagreement]:
        """Compare the final scores of the game with ours."""
        ours = final_scores(self.scores, int(self.record["riichi_sticks"]))
        if not self.is_exact or ours == scores:
            return []
        return [Disagreement("final scores", f"the server has {scores}, we have {ours}")]

    def note_furiten(self, stated: bool) -> None:
        """Remember the server's furiten notice; it arrives before the discard it refers to."""
        self._stated_furiten = stated

    def compare_furiten(self) -> list[Disagreement]:
        """Compare the server's furiten notice with our state, at the draw after the discard it refers to."""
        stated, self._stated_furiten = self._stated_furiten, None
        if stated is None or not self.is_exact or stated == is_furiten(self.record, self._player):
            return []
        return [Disagreement("furiten", f"the server has {stated}, we have {not stated}")]

    # --- after a snapshot ----------------------------------------------------------------------------

    def settle(self, message: m.ServerMessage) -> bool:
        """Choose the explanation of the snapshot that the next frame fits.

        Returns:
            Whether the frame only repeats the last event of the snapshot.

        Raises:
            StateMismatchError: the frame fits no explanation.
        """
        comeback, self._comeback = self._comeback, None
        if comeback is None:
            return False
        now = Candidate(tuple(self._log.round), self.record, self.is_exact)
        settled, repeats = comeback.settle(now, message)
        if settled is not now:
            self._take(settled)
        return repeats

    def _take(self, candidate: Candidate) -> None:
        self._replace(candidate.events, clone(candidate.record))
        self.source = _SOURCES[candidate.exact]

    def _replace(self, events: Sequence[GameEvent], record: np.void) -> None:
        self._log.replace_round(events)
        self.record = record

    def notice_riichi(self, message: m.ServerMessage) -> None:
        """Insert a riichi declared while we were disconnected: it shows only when its stick is paid."""
        if self.source is RoundSource.WATCHED or not isinstance(message, m.RiichiStep) or message.step != 2:
            return
        player = (message.seat + self._player) % 4
        if not self.record["riichi"][player]:
            told = with_riichi(self._log.round, player)
            if told is not None:
                self._replace(*told)


def check_next(known: KnownRound, log: GameLog, start: StartRound) -> None:
    """Check that a deal may follow a round and repeats its final scores.

    Raises:
        StateMismatchError: the round, honba, scores or riichi sticks do not follow from this round.
    """
    if log.result is None:
        raise StateMismatchError("a round begins before the last one ended")
    index, honba = known.place
    follows = [(index, honba + 1), (index + 1, 0), (index + 1, honba + 1)]
    if (start.round_index, start.honba) not in follows:
        raise StateMismatchError(f"round {start.round_index}.{start.honba} follows {index}.{honba}")
    sticks = int(known.record["riichi_sticks"])
    if start.scores != known.scores or start.riichi_sticks != sticks:
        raise StateMismatchError("a round begins with scores that differ from the end of the last one")


def _check_result(log: GameLog, event: GameEvent) -> None:
    """Check the order of results: the fold accepts several wins on one tile, even by the same player."""
    if not isinstance(event, Win | DrawnRound):
        return
    if isinstance(log.result, DrawnRound):
        raise StateMismatchError("the round has already ended")
    if isinstance(event, Win) and log.has_won(event.player):
        raise StateMismatchError(f"player {event.player} has already won")
