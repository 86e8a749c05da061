"""The states of a seat at a table, and what leads from one to the next.

Rows are states, columns triggers, cells the next state. A dot is a trigger that cannot come in that state: it
raises `StateMismatchError`, and the state stays. `TRANSITIONS` is the same table as data.

=========== ====== ===== ======== ====== =========== =========== ===== ===========
state       BEGIN  DEAL  SNAPSHOT LOST   MOVE        RESULT      FINAL LINE
=========== ====== ===== ======== ====== =========== =========== ===== ===========
SEATED      BEGUN  ROUND SETTLING AWAY   .           .           .     RETURNING
BEGUN       .      ROUND SETTLING AWAY   .           .           .     RETURNING
ROUND       .      ROUND SETTLING AWAY   ROUND       RESULT      OVER  AWAY
SETTLING    .      ROUND SETTLING AWAY   ROUND       RESULT      OVER  AWAY
RESULT      .      ROUND SETTLING AWAY   .           RESULT      OVER  AWAY_RESULT
RETURNING   BEGUN  ROUND SETTLING AWAY   RETURNING   AWAY_RESULT OVER  RETURNING
AWAY        .      ROUND SETTLING AWAY   AWAY        AWAY_RESULT OVER  AWAY
AWAY_RESULT .      ROUND SETTLING AWAY   AWAY        AWAY_RESULT OVER  AWAY_RESULT
OVER        .      .     .        .      .           .           .     .
=========== ====== ===== ======== ====== =========== =========== ===== ===========

The table covers the order of the frames that move a game. Within a round the fold (`game.state`) checks each
move. Two rules depend on data: a deal may interrupt a round only if the round was rebuilt by guess, and
final scores count as a plain result while our player number is unknown. Names, furiten notices and players
leaving or returning may come in any state and change none. After the game nothing is read.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.translate import TABLE_MESSAGES
from game.errors import StateMismatchError


class SeatState(Enum):
    """Where the game stands; the value completes the sentence "… cannot come now: "."""

    SEATED = "the game has not begun"
    BEGUN = "no round has been dealt yet"
    ROUND = "a round is running"
    SETTLING = "a round is running, rebuilt from a snapshot"
    """The next frame decides which explanation of the snapshot holds."""
    RESULT = "the round has ended"
    """Its result was shown, and we reported that we are ready."""
    RETURNING = "the connection is new and no round is known"
    """A new connection before the first round we know of."""
    AWAY = "the record of the round was lost"
    """A round is running that we have no record of: after a broken connection or an inexplicable snapshot."""
    AWAY_RESULT = "the result was shown and no round has been dealt since"
    """As AWAY, and we reported that we are ready for the next round."""
    OVER = "the game is over"


class Trigger(Enum):
    """What moves a seat from state to state: a kind of frame, or the connection."""

    BEGIN = "GameBegins"
    DEAL = "RoundDealt"
    SNAPSHOT = "RoundSnapshot, explained"
    LOST = "RoundSnapshot, not explained"
    MOVE = "draw, discard, meld, riichi or indicator"
    RESULT = "RoundWon or RoundDrawn"
    FINAL = "RoundWon or RoundDrawn with final scores"
    LINE = "a new connection"


S, T = SeatState, Trigger

_FRESH: Final = {T.DEAL: S.ROUND, T.SNAPSHOT: S.SETTLING, T.LOST: S.AWAY}
"""A deal or a snapshot shows a round whatever came before."""
_RUNNING: Final = {**_FRESH, T.MOVE: S.ROUND, T.RESULT: S.RESULT, T.FINAL: S.OVER, T.LINE: S.AWAY}
_AWAY: Final = {**_FRESH, T.MOVE: S.AWAY, T.RESULT: S.AWAY_RESULT, T.FINAL: S.OVER}

TRANSITIONS: Final[dict[SeatState, dict[Trigger, SeatState]]] = {
    S.SEATED: {**_FRESH, T.BEGIN: S.BEGUN, T.LINE: S.RETURNING},
    S.BEGUN: {**_FRESH, T.LINE: S.RETURNING},
    S.ROUND: _RUNNING,
    S.SETTLING: _RUNNING,
    S.RESULT: {**_FRESH, T.RESULT: S.RESULT, T.FINAL: S.OVER, T.LINE: S.AWAY_RESULT},
    S.RETURNING: {**_AWAY, T.BEGIN: S.BEGUN, T.MOVE: S.RETURNING, T.LINE: S.RETURNING},
    S.AWAY: {**_AWAY, T.LINE: S.AWAY},
    S.AWAY_RESULT: {**_AWAY, T.LINE: S.AWAY_RESULT},
    S.OVER: {},
}
"""The next state by state and trigger; a trigger that is not listed cannot come."""

WITHOUT_RECORD: Final = frozenset({S.RETURNING, S.AWAY, S.AWAY_RESULT})
"""No frame is believed before a deal or a snapshot; what is asked of us is answered without a record."""
DEALT: Final = frozenset({S.ROUND, S.SETTLING, S.RESULT, S.AWAY, S.AWAY_RESULT, S.OVER})
"""A round of the game has been seen."""
ANSWERED: Final = frozenset({S.RESULT, S.AWAY_RESULT})
"""A result was shown and answered: the second result of a double ron needs no second answer."""


def trigger_of(message: m.ServerMessage) -> Trigger | None:
    """The trigger a frame is, `Trigger.SNAPSHOT` for any snapshot; None for one that changes no state."""
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
