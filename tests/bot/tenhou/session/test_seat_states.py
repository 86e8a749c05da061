"""A session keeps to the seat's table of states."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from bot.tenhou import messages as m
from bot.tenhou.session.core import Session
from bot.tenhou.session.events import GameStarted, StateLost
from bot.tenhou.session.seat import TRANSITIONS, SeatState, Trigger
from game.layout import PHASE_TURN
from kit.errors import StateMismatchError
from tests.bot.tenhou.session.recorded import new_session, rendered, snapshot

NAMES = ("us", "right", "across", "left")
HAND = (0, 4, 8, 12, 20, 24, 28, 32, 36, 40, 44, 48, 56)
SCORES = (25_000, 25_000, 25_000, 25_000)
ZERO = (0, 0, 0, 0)

DEAL = m.RoundDealt(0, 0, 0, 135, SCORES, 0, HAND)
NEXT_DEAL = m.RoundDealt(0, 1, 0, 135, SCORES, 0, HAND)
DRAWN = m.RoundDrawn("nine_terminals", 0, 0, SCORES, ZERO)
FINAL = m.RoundDrawn("nine_terminals", 0, 0, SCORES, ZERO, final=m.FinalScores(SCORES, ZERO))
INEXPLICABLE = m.RoundSnapshot(0, 1, 0, (135,), SCORES, 0, HAND, rivers=((60,), (), (64,), ()))


def move(session: Session) -> m.ServerMessage:
    return m.TileDiscarded(0, 60) if session.state["phase"] == PHASE_TURN else m.TileDrawn(0, 60)


def explicable(session: Session) -> m.ServerMessage:
    known = session.state["phase"] == PHASE_TURN
    return snapshot(session.state, 0) if known else m.RoundSnapshot(0, 0, 0, (135,), SCORES, 0, HAND)


FRAMES: dict[Trigger, Callable[[Session], m.ServerMessage]] = {
    Trigger.BEGIN: lambda _: m.GameBegins(0),
    Trigger.DEAL: lambda session: NEXT_DEAL if DRAWN.reason in repr(session.log) else DEAL,
    Trigger.SNAPSHOT: explicable,
    Trigger.LOST: lambda _: INEXPLICABLE,
    Trigger.MOVE: move,
    Trigger.RESULT: lambda _: DRAWN,
    Trigger.FINAL: lambda _: FINAL,
}

_TURN = (Trigger.BEGIN, Trigger.DEAL, Trigger.MOVE)
PATHS: dict[SeatState, tuple[Trigger, ...]] = {
    SeatState.SEATED: (),
    SeatState.BEGUN: (Trigger.BEGIN,),
    SeatState.ROUND: _TURN,
    SeatState.SETTLING: (*_TURN, Trigger.SNAPSHOT),
    SeatState.RESULT: (*_TURN, Trigger.RESULT),
    SeatState.RETURNING: (Trigger.BEGIN, Trigger.LINE),
    SeatState.AWAY: (*_TURN, Trigger.LINE),
    SeatState.AWAY_RESULT: (*_TURN, Trigger.RESULT, Trigger.LINE),
    SeatState.OVER: (*_TURN, Trigger.FINAL),
}
CELLS = [(state, trigger) for state, trigger in product(SeatState, Trigger) if state is not SeatState.OVER]
DEPENDS_ON_DATA = {
    (SeatState.ROUND, Trigger.DEAL),
    (SeatState.SETTLING, Trigger.DEAL),
    # After a win; `test_session` plays a double ron.
    (SeatState.RESULT, Trigger.RESULT),
    (SeatState.RESULT, Trigger.FINAL),
}


def in_state(state: SeatState) -> Session:
    session = new_session()
    session.start()
    for message in (m.Hello("NoName"), m.MatchFound(9), m.PlayerNames(NAMES)):
        session.take(message)
    for trigger in PATHS[state]:
        pull(session, trigger)
    assert session.seat.state is state
    session.outbox()
    return session


def pull(session: Session, trigger: Trigger) -> None:
    if trigger is Trigger.LINE:
        session.seat.come_back()
    else:
        session.seat.receive(FRAMES[trigger](session))


@pytest.mark.parametrize(("state", "trigger"), CELLS, ids=lambda value: value.name)
def test_a_seat_keeps_to_the_table(state: SeatState, trigger: Trigger) -> None:
    session = in_state(state)
    after = TRANSITIONS[state].get(trigger)
    if after is None or (state, trigger) in DEPENDS_ON_DATA:
        with pytest.raises(StateMismatchError):
            pull(session, trigger)
        assert session.seat.state is state
    else:
        pull(session, trigger)
        assert session.seat.state is after


def test_after_the_game_nothing_is_read() -> None:
    session = in_state(SeatState.OVER)
    for frame in FRAMES.values():
        assert session.seat.receive(frame(session)) == []


def test_a_frame_out_of_order_names_the_frame_and_the_moment() -> None:
    session = in_state(SeatState.ROUND)
    with pytest.raises(StateMismatchError, match="GameBegins cannot come now: a round is running"):
        pull(session, Trigger.BEGIN)


def test_the_result_of_a_round_that_was_never_understood_is_answered() -> None:
    session = in_state(SeatState.AWAY_RESULT)
    assert session.seat is not None
    assert any(isinstance(event, StateLost) for event in session.take(INEXPLICABLE))
    session.take(m.TileDrawn(0, 60))
    session.outbox()
    session.take(DRAWN)
    assert rendered(session.outbox()) == ['{"tag":"NEXTREADY"}']
    session.take(DRAWN)
    assert rendered(session.outbox()) == []


def test_the_next_game_at_a_table_the_server_never_named_is_not_named_either() -> None:
    session = new_session()
    session.start()
    session.take(m.Hello("NoName"))
    session.take(m.PlayerNames(NAMES))
    session.take(INEXPLICABLE)
    [started] = [event for event in session.take(m.GameBegins(0)) if isinstance(event, GameStarted)]
    assert not started.is_named
