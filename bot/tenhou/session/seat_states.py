"""The states of a seat at a table and the transitions between them.

Rows are states, columns are triggers, cells are next states. A dot marks a trigger that cannot come in that
state: it raises `StateMismatchError` and leaves the state unchanged. `TRANSITIONS` is the same table as data.

=========== ========= ===== ======== ====== =========== =========== ===== ===========
state       BEGIN     DEAL  SNAPSHOT LOST   MOVE        RESULT      FINAL LINE
=========== ========= ===== ======== ====== =========== =========== ===== ===========
SEATED      BEGUN     ROUND SETTLING AWAY   .           .           .     RETURNING
BEGUN       BEGUN     ROUND SETTLING AWAY   .           .           .     RETURNING
ROUND       .         ROUND SETTLING AWAY   ROUND       RESULT      OVER  AWAY
SETTLING    .         ROUND SETTLING AWAY   ROUND       RESULT      OVER  AWAY
RESULT      .         ROUND SETTLING AWAY   .           RESULT      OVER  AWAY_RESULT
RETURNING   RETURNING ROUND SETTLING AWAY   RETURNING   AWAY_RESULT OVER  RETURNING
AWAY        .         ROUND SETTLING AWAY   AWAY        AWAY_RESULT OVER  AWAY
AWAY_RESULT .         ROUND SETTLING AWAY   AWAY        AWAY_RESULT OVER  AWAY_RESULT
OVER        .         .     .        .      .           .           .     .
=========== ========= ===== ======== ====== =========== =========== ===== ===========

The table covers the order of the frames that advance a game. Within a round the fold (`game.state`) checks
each move. Two rules depend on data: a deal may interrupt a round only if the record of the round is a guess,
and final scores count as an ordinary result while our player number is unknown. Names, furiten notices and
players leaving or returning may come in any state and change none. After the game all frames are ignored.

A match, a beginning or a deal that cannot come in a game begins another: `Session` closes the game as it
stands, and another seat takes the frame in the state RETURNING. A frame that contradicts such a deal acts as
LINE.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from bot.tenhou.messages import server_messages as m
from bot.tenhou.session.translate import TABLE_MESSAGES
from kit.errors import StateMismatchError


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
"""The next state by state and trigger; a trigger not listed cannot come."""

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
