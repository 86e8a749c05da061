"""One game from our seat: table frames in, folded events and prompts out, without a socket or a clock.

`TRANSITIONS` lists which frames may come in which state; within a round the fold (`game.state`) checks each
move. Each frame is folded immediately and added to the log (`bot.tenhou.session.known_round`), and may open
or close a prompt (`bot.tenhou.session.turn`). Only the server's frames change the record: an action of ours
is folded when the server reports it. The one exception is a riichi that the server does not confirm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final

from bot.tenhou.game_types import GameType
from bot.tenhou.messages import client_messages as c
from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.events import (
    Disagreement,
    GameEnded,
    GameStarted,
    Resumed,
    RoundEnded,
    SessionEvent,
    StateLost,
    TableEvent,
)
from bot.tenhou.session.known_round import GameLog, KnownRound, RoundSource, check_next
from bot.tenhou.session.translate import TABLE_MESSAGES, by_player, player_of_dealer, translate
from bot.tenhou.session.turn import Turn
from game.events import EndGame, EndRound, GameEvent, Riichi, StartGame, StartRound
from game.scoring.settlement import GameLength, placements
from game.state import apply, new_round
from kit.errors import LocalProtocolError, StateMismatchError


class SeatState(Enum):
    """The state of a game; the value completes the message "… cannot come now: "."""

    SEATED = "the game has not begun"
    BEGUN = "no round has been dealt yet"
    ROUND = "a round is running"
    SETTLING = "a round is running, rebuilt from a snapshot"
    """The next frame decides which explanation of the snapshot holds."""
    RESULT = "the round has ended"
    """Its result was shown, and we sent that we are ready."""
    RETURNING = "no round is known"
    """A new connection, or another game begun in the middle of one, before the first round we know of."""
    AWAY = "the record of the round was lost"
    """A round is running without a record, after a broken connection or an unexplained snapshot."""
    AWAY_RESULT = "the result was shown and no round has been dealt since"
    """As AWAY, and we sent that we are ready for the next round."""
    OVER = "the game is over"


class Trigger(Enum):
    """The cause of a transition: a kind of frame, or a new connection."""

    BEGIN = "GameBegins"
    DEAL = "RoundDealt"
    SNAPSHOT = "RoundSnapshot, explained"
    LOST = "RoundSnapshot, not explained"
    MOVE = "draw, discard, meld, riichi or indicator"
    RESULT = "RoundWon or RoundDrawn"
    FINAL = "RoundWon or RoundDrawn with final scores"
    LINE = "a new connection"
    """Or another loss of the record: the frames that follow are of a round that we do not know."""


S, T = SeatState, Trigger

_FRESH: Final = {T.DEAL: S.ROUND, T.SNAPSHOT: S.SETTLING, T.LOST: S.AWAY}
"""A deal or a snapshot shows a round, regardless of the state before."""
_RUNNING: Final = {**_FRESH, T.MOVE: S.ROUND, T.RESULT: S.RESULT, T.FINAL: S.OVER, T.LINE: S.AWAY}
_AWAY: Final = {**_FRESH, T.MOVE: S.AWAY, T.RESULT: S.AWAY_RESULT, T.FINAL: S.OVER}

TRANSITIONS: Final[dict[SeatState, dict[Trigger, SeatState]]] = {
    S.SEATED: {**_FRESH, T.BEGIN: S.BEGUN, T.LINE: S.RETURNING},
    S.BEGUN: {**_FRESH, T.BEGIN: S.BEGUN, T.LINE: S.RETURNING},
    S.ROUND: _RUNNING,
    S.SETTLING: _RUNNING,
    S.RESULT: {**_FRESH, T.RESULT: S.RESULT, T.FINAL: S.OVER, T.LINE: S.AWAY_RESULT},
    S.RETURNING: {**_AWAY, T.BEGIN: S.RETURNING, T.MOVE: S.RETURNING, T.LINE: S.RETURNING},
    S.AWAY: {**_AWAY, T.LINE: S.AWAY},
    S.AWAY_RESULT: {**_AWAY, T.LINE: S.AWAY_RESULT},
    S.OVER: {},
}
"""The next state by state and trigger; a trigger not listed cannot come: it raises and changes nothing.

Two rules depend on data: a deal may interrupt a round only if the record of the round is a guess, and final
scores count as an ordinary result while our player number is unknown. Names, furiten notices and players
leaving or returning may come in any state and change none. After the game all frames are ignored.

A match, a beginning or a deal that cannot come in a game begins another: `Session` closes the game as it
stands, and another seat takes the frame in the state RETURNING. A frame that contradicts such a deal acts as
LINE.
"""

WITHOUT_RECORD: Final = frozenset({S.RETURNING, S.AWAY, S.AWAY_RESULT})
"""States without a record until the next deal or snapshot; prompts are answered without one."""
DEALT: Final = frozenset({S.ROUND, S.SETTLING, S.RESULT, S.AWAY, S.AWAY_RESULT, S.OVER})
"""States after the first round we saw."""
ANSWERED: Final = frozenset({S.RESULT, S.AWAY_RESULT})
"""States in which a result was answered: the second result of a double ron needs no second answer."""


def trigger_of(message: m.ServerMessage) -> Trigger | None:
    """The trigger of a frame, `Trigger.SNAPSHOT` for any snapshot; None if the frame changes no state."""
    if isinstance(message, m.RoundWon | m.RoundDrawn):
        return T.RESULT if message.final is None else T.FINAL
    return _TRIGGERS.get(type(message))


_TRIGGERS: Final[dict[type[m.ServerMessage], Trigger]] = {
    **dict.fromkeys(TABLE_MESSAGES, T.MOVE),
    m.GameBegins: T.BEGIN,
    m.RoundDealt: T.DEAL,
    m.RoundSnapshot: T.SNAPSHOT,
}


def next_state(state: SeatState, trigger: Trigger) -> SeatState:
    """The state that a trigger leads to.

    >>> next_state(SeatState.RESULT, Trigger.DEAL).name
    'ROUND'

    Raises:
        StateMismatchError: the trigger cannot come in this state.
    """
    after = TRANSITIONS[state].get(trigger)
    if after is None:
        raise StateMismatchError(f"{trigger.value} cannot come now: {state.value}")
    return after


MOST_DISPUTES: Final = 3
"""Frames of one round that may contradict our record; after that the round is finished without a record."""
MOST_EARLY: Final = 64
"""Departures and returns remembered before a game begins."""


class Disputes:
    """Counts the frames of one round that contradicted our record."""

    def __init__(self) -> None:
        self.count = 0
        self._place = (-1, -1)  # index and honba of that round

    def add(self, place: tuple[int, int]) -> None:
        """Count a frame that contradicted our record of the round at this index and honba."""
        self.count = self.count + 1 if place == self._place else 1
        self._place = place

    def is_hopeless(self, place: tuple[int, int]) -> bool:
        """Whether this round has reached the limit, so that another snapshot would not help."""
        return self.count >= MOST_DISPUTES and place == self._place


class Seat:
    """A running game.

    Args:
        match: the frame that seated us.
        numbers: the source of prompt numbers.
        send: called with each frame to send.
        is_named: whether the server has named the game type; otherwise ``match`` is the one we queued for.

    Attributes:
        state: the state of the game.
        round: the running or last round as we know it.
        turn: our prompts and answers.
        log: every event of the game so far, as received.
        player: our absolute player number, -1 until it is known.
        game_id: id of the server's record, empty if it keeps none.
        people: names and ranks by seat, ours first.
    """

    def __init__(
        self,
        match: m.MatchFound,
        numbers: Iterator[int],
        send: Callable[[c.ClientMessage], None],
        *,
        is_named: bool = True,
    ) -> None:
        self.match = match
        self.is_named = is_named
        self.state = SeatState.SEATED
        self.player = -1
        self.log = GameLog()
        self.round = KnownRound(self.player, self.log)
        self.turn = Turn(numbers, send)
        self.game_id = ""
        self.people = m.PlayerNames(("", "", "", ""))
        self._numbers = numbers
        self._send = send
        self._early: list[m.PlayerGone | m.PlayerBack] = []  # departures and returns before the game began
        self._disputes = Disputes()

    @property
    def length(self) -> GameLength:
        """Hanchan or tonpuu."""
        return GameType(self.match.game_type).length

    @property
    def is_over(self) -> bool:
        """Whether the final scores have arrived."""
        return self.state is SeatState.OVER

    @property
    def is_dealt(self) -> bool:
        """Whether we have seen a round of the game."""
        return self.state in DEALT

    @property
    def is_returning(self) -> bool:
        """Whether we have no record until the next snapshot or deal."""
        return self.state in WITHOUT_RECORD

    # --- frames in -----------------------------------------------------------------------------------

    def receive(self, message: m.ServerMessage) -> list[SessionEvent]:
        """Fold one frame.

        Raises:
            StateMismatchError: the frame contradicts the state; the state is unchanged.
        """
        handler = _HANDLERS.get(type(message))
        if handler is None or self.is_over:
            return []
        try:
            events: list[SessionEvent] = handler(self, message)
        except StateMismatchError:
            self._disputes.add(self.round.place)
            raise
        return events

    def come_back(self) -> None:
        """Expect frames of a round that we do not know, until the next snapshot or deal."""
        self.state = next_state(self.state, Trigger.LINE)
        self.turn.reset()

    def twin(self) -> Seat:
        """A seat for another game at the same table."""
        other = Seat(self.match, self._numbers, self._send, is_named=self.is_named)
        other.people = self.people
        other.come_back()
        return other

    def events_so_far(self) -> tuple[GameEvent, ...]:
        """The game as it stands, its last round closed if it has a result."""
        closing = [] if self.log.result is None else [EndRound()]
        return (*self.log.events, *closing)

    def _take_names(self, message: m.PlayerNames) -> list[SessionEvent]:
        self.people = message
        return []

    def _take_furiten(self, message: m.FuritenShown) -> list[SessionEvent]:
        self.round.note_furiten(message.furiten)
        return []

    def _take_presence(self, message: m.PlayerGone | m.PlayerBack) -> list[SessionEvent]:
        if not self.log.is_open:
            self._early = [*self._early[1 - MOST_EARLY :], message]
            return []
        event = translate(message, self.round.record, self.player)
        assert event is not None
        self.log.add(event)
        return [TableEvent(event)]

    # --- the game begins and ends --------------------------------------------------------------------

    def _begin(self, message: m.GameBegins) -> list[SessionEvent]:
        self.state = next_state(self.state, Trigger.BEGIN)
        if self.log.is_open:
            return []  # repeated, or the connection broke between the beginning and the first deal
        self.game_id = message.log_id
        self.player = player_of_dealer(0, message.dealer)
        return self._open_log()

    def _open_log(self) -> list[SessionEvent]:
        people, player, match = self.people, self.player, self.match
        names = by_player(people.names, player)
        start = StartGame(names, player)
        self.log.open(start)
        early, self._early = self._early, []
        started = GameStarted(
            self.game_id,
            names,
            self.length,
            match.game_type,
            match.lobby,
            player,
            ranks=by_player(people.dans, player),
            rates=by_player(people.rates, player),
            sexes=by_player(people.sexes, player),
            is_named=self.is_named,
        )
        present = (event for message in early for event in self._take_presence(message))
        return [started, TableEvent(start), *present]

    def _end_game(self, final: m.FinalScores) -> list[SessionEvent]:
        scores, results = by_player(final.scores, self.player), by_player(final.results, self.player)
        events: list[SessionEvent] = []
        if not self.is_returning:
            events = [*self._end_round(), *self.round.compare_final(scores)]
        end = EndGame(scores, results)
        self.log.add(end)
        return [*events, TableEvent(end), GameEnded(scores, results, placements(scores))]

    # --- a round: deal, moves and result -------------------------------------------------------------

    def _deal(self, message: m.RoundDealt) -> list[SessionEvent]:
        after = next_state(self.state, Trigger.DEAL)
        guess = self.is_returning or self.player < 0
        player = player_of_dealer(message.round_index, message.dealer) if guess else self.player
        start = translate(message, self.round.record, player)
        assert isinstance(start, StartRound)
        if self.is_dealt and not self.is_returning and self.round.is_exact:
            check_next(self.round, self.log, start)
        record = new_round()
        apply(record, start)
        self.player = player
        events = [] if self.log.is_open else self._open_log()
        events += self.turn.reset()
        if self.log.result is not None:
            events += self._end_round()
        elif self.is_dealt:
            self.log.drop_round()  # its end was missed, and no record can hold it
        self.log.begin_round(start)
        self.round = KnownRound(player, self.log, record)
        self.state = after
        return [*events, TableEvent(start)]

    def _end_round(self) -> list[SessionEvent]:
        self.log.end_round()
        return [TableEvent(EndRound()), RoundEnded(*self.round.place, self.round.scores)]

    def _play(self, message: m.ServerMessage) -> list[SessionEvent]:
        """A move or a result."""
        trigger = trigger_of(message)
        assert trigger is not None
        if trigger is Trigger.FINAL and self.player < 0:
            trigger = Trigger.RESULT  # final scores cannot be assigned to players yet
        next_state(self.state, trigger)  # raises if the frame cannot come now
        events = self._follow_blindly(message) if self.is_returning else self._follow(message)
        after = next_state(self.state, trigger)
        if isinstance(message, m.RoundWon | m.RoundDrawn):
            if trigger is Trigger.FINAL and message.final is not None:
                events += self._end_game(message.final)
            elif self.state not in ANSWERED:
                self._send(c.Ready())
        self.state = after
        return events

    def _follow(self, message: m.ServerMessage) -> list[SessionEvent]:
        try:
            return self._fold(message)
        except StateMismatchError as exc:
            if self.round.source is not RoundSource.UNEXPECTED:
                raise
            self.state = next_state(self.state, Trigger.LINE)
            lost = Disagreement(
                "deal", f"it came in the middle of a round, and a frame contradicts it: {exc}"
            )
            return [lost, *self._follow_blindly(message)]

    def _fold(self, message: m.ServerMessage) -> list[SessionEvent]:
        if self.round.settle(message):
            return self.turn.close() + self._ask(message)
        self.round.notice_riichi(message)
        if self.turn.riichi.skips(message):
            return []
        event = self.round.fold(message)
        return [*self.turn.follow(message), TableEvent(event), *self._ask(message)]

    def _ask(self, message: m.ServerMessage) -> list[SessionEvent]:
        compared = self.round.compare_furiten() if isinstance(message, m.TileDrawn) else []
        return [*compared, *self.turn.ask(message, self.round, self.player)]

    def _follow_blindly(self, message: m.ServerMessage) -> list[SessionEvent]:
        return self.turn.close() + self.turn.ask_without_record(message)

    # --- rejoining -----------------------------------------------------------------------------------

    def _restore(self, message: m.RoundSnapshot) -> list[SessionEvent]:
        after = next_state(self.state, Trigger.SNAPSHOT)
        self.player = player_of_dealer(message.round_index, message.dealer)
        events = [] if self.log.is_open else self._open_log()
        if self.log.result is not None:
            events += self._end_round()
        if self._disputes.is_hopeless((message.round_index, message.honba)):
            return [
                *events,
                self._lose(f"{self._disputes.count} frames of this round contradicted our record"),
            ]
        known = KnownRound.rejoined(message, self.player, self.log)
        if known is None:
            return [*events, self._lose("the snapshot of the round cannot be explained")]
        self.round, self.state = known, after
        events.append(Resumed(message.round_index, message.honba, known.is_exact))
        # After our own call the server sends nothing until we discard; it repeats our draw, with the offer.
        return events + (self.turn.ask_to_discard(known, self.player) if known.we_called else [])

    def _lose(self, why: str) -> SessionEvent:
        """Continue without a record until the next deal."""
        self.state = next_state(self.state, Trigger.LOST)
        return StateLost(why)

    # --- our own riichi ------------------------------------------------------------------------------

    def assume_riichi(self) -> list[SessionEvent]:
        """Continue as if the server had confirmed our riichi: open the prompt for its discard.

        Raises:
            LocalProtocolError: no riichi awaits confirmation.
        """
        if not self.turn.riichi.is_pending:
            raise LocalProtocolError("no riichi awaits confirmation")
        event = Riichi(self.player)
        self.round.take(event)
        self.turn.riichi.assume()
        return [TableEvent(event), *self.turn.ask_to_discard(self.round, self.player)]


_HANDLERS: Final[dict[type[m.ServerMessage], Callable[[Seat, Any], list[SessionEvent]]]] = {
    **dict.fromkeys(TABLE_MESSAGES, Seat._play),
    m.RoundDealt: Seat._deal,
    m.RoundSnapshot: Seat._restore,
    m.GameBegins: Seat._begin,
    m.PlayerNames: Seat._take_names,
    m.FuritenShown: Seat._take_furiten,
    m.PlayerGone: Seat._take_presence,
    m.PlayerBack: Seat._take_presence,
}
