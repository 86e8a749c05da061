from __future__ import annotations

import contextlib
import random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.tenhou import messages as m
from bot.tenhou.session.core import Session
from bot.tenhou.session.events import PromptOpened, Resumed, SessionEvent, StateLost
from bot.tenhou.session.resume import candidates
from game.events import Ankan, Discard, DoraRevealed, Draw, Pon, RiichiAccepted, StartGame, StartRound
from game.layout import RIVER_RIICHI
from game.state import apply_all, new_round
from kit.errors import StateMismatchError
from tests.bot.captures import capture
from tests.bot.tenhou.session.recorded import (
    Moment,
    feed,
    moments,
    new_session,
    rendered,
    server_frames,
    snapshot,
)
from tests.scale import scaled

GAMES = (
    "tcp-xml-kakan-daiminkan-t13-20180125.log",
    "tcp-xml-ankan-tobi-20180125.log",
    "tcp-xml-kan4-kaze4-20180122.log",
    "tcp-xml-double-ron-20180206.log",
)
# What a snapshot cannot show: the order of calls and of our draws, and what follows from it.
UNKNOWABLE = {
    *("ippatsu", "river", "river_marks", "river_order", "meld_order", "riichi_order", "safe34"),
    *("turn_safe34", "rinshan", "missed_turn", "missed_riichi", "liable_dragons", "liable_winds"),
    *("last_player", "last_tile"),
}


def _difference(a: np.void, b: np.void) -> list[str]:
    return [name for name in a.dtype.names if not np.array_equal(a[name], b[name])]


def _come_back(session: Session, moment: Moment, *, before_draw: bool) -> list[SessionEvent]:
    session.reconnect()
    session.take(m.MatchFound(9))
    session.take(m.PlayerNames(moment.names))
    session.take(m.ScoresResumed(0, 0, 0, (0, 0, 0, 0)))
    record = moment.before_draw if before_draw else moment.record
    events = session.take(snapshot(record, moment.player))
    for message in moment.since_draw if before_draw else ():
        events += session.take(message)
    return events


def _finish_round(session: Session, frames: list[m.ServerMessage], after: int) -> list[SessionEvent]:
    events = []
    for message in frames[after + 1 :]:
        events += session.take(message)
        if isinstance(message, m.RoundWon | m.RoundDrawn):
            break
    return events


def _lost(events: list[SessionEvent]) -> bool:
    return any(isinstance(event, StateLost) for event in events)


@pytest.mark.parametrize(
    ("name", "step"), [*((name, 5) for name in GAMES), ("tcp-xml-furiten-kakan-bye-20180122.log", 1)]
)
def test_coming_back_at_any_moment_loses_nothing(name: str, step: int) -> None:
    frames = server_frames(capture(name))
    session = new_session()
    at = 0
    for moment in list(moments(frames))[::step]:
        while at <= moment.index:
            feed(session, frames[at])
            at += 1
        events = _come_back(session, moment, before_draw=True)
        assert [event.exact for event in events if isinstance(event, Resumed)] == [True]
        assert _difference(session.state, moment.record) == []


@pytest.mark.parametrize("name", GAMES)
def test_a_new_process_rebuilds_the_round_from_the_snapshot(name: str) -> None:
    frames = server_frames(capture(name))
    for moment in list(moments(frames))[::17]:
        session = new_session()
        events = _come_back(session, moment, before_draw=True)
        assert not _lost(events)
        assert set(_difference(session.state, moment.record)) <= UNKNOWABLE
        _finish_round(session, frames, moment.index)


@pytest.mark.parametrize("known", [True, False])
def test_a_snapshot_of_the_very_moment_is_settled_by_the_next_frame(known: bool) -> None:
    frames = server_frames(capture(GAMES[0]))
    for moment in list(moments(frames))[::23]:
        if len(snapshot(moment.record, moment.player).hand) % 3 == 2:
            continue  # after a snapshot without our draw, the draw is sent again
        session = new_session()
        if known:
            for message in frames[: moment.index + 1]:
                feed(session, message)
        events = _come_back(session, moment, before_draw=False)
        assert not _lost(events + _finish_round(session, frames, moment.index))


def test_a_riichi_discard_that_is_ronned_was_never_paid() -> None:
    frames = server_frames(capture("tcp-xml-nagashi-kaze4-yao9-20180207.log"))
    (moment,) = (moment for moment in moments(frames) if moment.index == 1122)
    session = new_session()
    for message in frames[: moment.index + 1]:
        feed(session, message)
    _come_back(session, moment, before_draw=False)
    session.take(frames[moment.index + 1])
    assert session.state["riichi_sticks"] == 0
    assert [int(score) for score in session.state["scores"]] == [
        18_700 + 15_100,
        8_600,
        31_200,
        40_500 - 14_100,
    ]


def test_the_log_of_a_resumed_game_folds() -> None:
    frames = server_frames(capture(GAMES[0]))
    moment = list(moments(frames))[300]
    session = new_session()
    _come_back(session, moment, before_draw=True)
    assert isinstance(session.log[0], StartGame)
    assert isinstance(session.log[1], StartRound)
    record = new_round()
    apply_all(record, session.log)
    assert _difference(record, session.state) == []


def test_recorded_snapshots_are_understood() -> None:
    for name in ("tcp-xml-reconnect-20180120.log", "tcp-xml-reinit-20180207.log"):
        session = new_session()
        session.reconnect()
        for message in server_frames(capture(name)):
            assert not _lost(session.take(message))


# --- by hand: short rounds, no recording needed --------------------------------------------------------

HAND = (0, 4, 8, 12, 20, 24, 28, 32, 36, 40, 44, 48, 56)
NAMES = ("us", "right", "across", "left")


def _returned(shot: m.RoundSnapshot) -> tuple[Session, list[SessionEvent]]:
    session = new_session()
    session.reconnect()
    session.take(m.MatchFound(9))
    session.take(m.PlayerNames(NAMES))
    return session, session.take(shot)


def _shot(**changes: object) -> m.RoundSnapshot:
    return msgspec.structs.replace(m.RoundSnapshot(0, 0, 0, (135,), (25_000,) * 4, 0, HAND), **changes)


def _pon(kind: int, source: int) -> int:
    """The code of a pon of the first copy; the fourth stays out."""
    return (3 * kind) << 9 | 3 << 5 | 0x8 | source


def test_a_snapshot_before_any_discard() -> None:
    session, events = _returned(_shot())
    assert events[-1] == Resumed(0, 0, exact=False)
    told = session.take(m.TileDrawn(0, 60))
    assert isinstance(told[-1], PromptOpened)
    assert session.player == 0


def test_our_turn_after_our_own_pon_opens_a_prompt_at_once() -> None:
    # We called pon on 102 from toimen with 100 and 101, and have not discarded yet.
    code = (3 * 25 + 2) << 9 | 3 << 5 | 0x8 | 2
    shot = _shot(hand=HAND[:11], melds=((code,), (), (), ()), rivers=((64,), (68,), (), ()))
    session, events = _returned(shot)
    assert {action.tile for action in events[-1].legal} <= set(HAND)
    assert session.state["turn"] == 0


def test_a_discard_that_stands_in_the_river_and_comes_again_is_offered_once() -> None:
    shot = _shot(hand=(100, 101, *HAND[:11]), rivers=((64,), (102,), (), ()))
    session, _ = _returned(shot)
    told = session.take(m.TileDiscarded(1, 102, offers=m.OFFER_PON))
    assert [type(event) for event in told] == [PromptOpened]
    assert session.state["river_size"][1] == 1


def test_a_drawn_tile_that_stands_in_the_hand_and_comes_again_is_drawn_once() -> None:
    shot = _shot(hand=(60, *HAND), rivers=((64,), (68,), (72,), (76,)))
    session, _ = _returned(shot)
    session.take(m.TileDrawn(0, 60))
    assert session.state["drawn"] == 60
    assert session.state["hand_size"][0] == 14


def test_a_discard_without_the_draw_before_it_is_understood() -> None:
    session, _ = _returned(_shot(rivers=((64,), (), (), ())))
    session.take(m.TileDiscarded(1, 68))
    assert [type(event) for event in session.log[-2:]] == [Draw, Discard]


def test_a_riichi_declared_while_we_were_away_shows_when_it_is_paid() -> None:
    session, _ = _returned(_shot(rivers=((64,), (), (), ())))
    session.take(m.TileDrawn(1))
    session.take(m.TileDiscarded(1, 68))
    session.take(m.RiichiStep(1, 2, (25_000, 24_000, 25_000, 25_000)))
    assert list(session.state["riichi"]) == [0, 2, 0, 0]
    assert session.state["double_riichi"][1] == 1


def test_in_a_rebuilt_round_the_servers_word_on_furiten_counts() -> None:
    ready = (0, 4, 8, 36, 40, 44, 72, 76, 80, 108, 109, 12, 17)  # waits for 3m and 6m
    shot = _shot(
        hand=ready,
        rivers=((64, 65), (68, 9), (69,), (70,)),
        riichi_at=(1, -1, -1, -1),
        scores=(24_000, 25_000, 25_000, 25_000),
        riichi_sticks=1,
    )
    session, _ = _returned(shot)
    session.take(m.TileDrawn(2))
    assert session.state["missed_riichi"][0] == 1  # as far as we can tell
    (_, opened) = session.take(m.TileDiscarded(2, 20, offers=m.OFFER_RON))
    assert [action.kind.name for action in opened.legal] == ["RON", "PASS"]


def test_a_riichi_of_the_snapshot_is_in_the_state() -> None:
    shot = _shot(
        rivers=((64, 65, 66), (68, 69, 70), (72, 73), (76, 77)),
        riichi_at=(-1, 1, -1, -1),
        scores=(25_000, 24_000, 25_000, 25_000),
        riichi_sticks=1,
    )
    session, _ = _returned(shot)
    session.take(m.TileDrawn(2))
    assert list(session.state["riichi"]) == [0, 2, 0, 0]
    assert list(session.state["scores"]) == [25_000, 24_000, 25_000, 25_000]
    assert session.state["riichi_sticks"] == 1
    assert session.state["double_riichi"][1] == 0
    assert [e.tsumogiri for e in session.log if isinstance(e, Discard) and e.player == 1] == [
        False,
        False,
        True,
    ]


def test_a_riichi_discard_that_was_called_is_the_last() -> None:
    shot = _shot(
        hand=HAND[:11],
        melds=((_pon(25, 1),), (), (), ()),
        rivers=((64, 65), (68,), (72,), (76,)),
        riichi_at=(-1, 1, -1, -1),
        scores=(25_000, 24_000, 25_000, 25_000),
        riichi_sticks=1,
    )
    session, _ = _returned(shot)
    assert list(session.state["river_marks"][1][:2] & RIVER_RIICHI != 0) == [False, True]


LAST_IN_RIICHI = _shot(
    rivers=((64,), (68,), (), ()),
    riichi_at=(-1, 0, -1, -1),
    scores=(25_000, 24_000, 25_000, 25_000),
    riichi_sticks=1,
)


def test_a_riichi_discard_that_comes_last_is_rather_paid_than_not() -> None:
    found = candidates(LAST_IN_RIICHI, 0, ())
    assert [int(next(found).record["riichi"][1]) for _ in range(2)] == [2, 1]


def test_a_riichi_is_paid_before_the_indicator_of_an_earlier_kan() -> None:
    shot = msgspec.structs.replace(LAST_IN_RIICHI, melds=((), (100 << 8,), (), ()), indicators=(135, 134))
    (with_kan, *_) = candidates(shot, 0, ())
    kan = next(n for n, event in enumerate(with_kan.events) if isinstance(event, Ankan))
    (first, *_) = candidates(shot, 0, with_kan.events[: kan + 1])
    assert first.exact
    assert first.events[-2:] == (RiichiAccepted(1), DoraRevealed(134))


def test_an_explanation_with_a_forbidden_move_comes_after_all_others() -> None:
    # A pon of our last discard, and then the fourth copy, would be swap-calling; one of our first is not.
    shot = _shot(melds=((), (_pon(25, 3),), (), ()), rivers=((64,), (68, 103), (72,), (76,)))
    found = list(candidates(shot, 0, ()))
    assert [isinstance(each.events[3], Pon) for each in found] == [True] * 4 + [False] * 4
    seen = found[-2].events
    assert next(candidates(shot, 0, seen)).events == seen  # what was seen has happened, forbidden or not


@pytest.mark.parametrize(
    ("melds", "rivers", "indicators"),
    [
        ((_pon(25, 3), _pon(26, 1)), ((), (68, 69), (), ()), (135,)),
        ((108 << 8, _pon(25, 1)), ((64,), (68, 69), (), ()), (135, 134)),
    ],
    ids=["pon", "ankan"],
)
def test_melds_in_another_order_than_listed_are_understood(
    melds: tuple[int, int], rivers: tuple[tuple[int, ...], ...], indicators: tuple[int, ...]
) -> None:
    _, events = _returned(_shot(melds=((), melds, (), ()), rivers=rivers, indicators=indicators))
    assert events[-1] == Resumed(0, 0, exact=False)


@pytest.mark.parametrize(
    "shot",
    [
        _shot(rivers=((), (68,), (), ())),  # the dealer has not discarded, but the next player has
        _shot(rivers=((64, 65, 66), (68,), (), ())),
        _shot(indicators=(135, 134)),  # a second indicator without a kan
    ],
)
def test_a_snapshot_that_contradicts_itself_costs_the_round_not_the_game(shot: m.RoundSnapshot) -> None:
    session, events = _returned(shot)
    assert _lost(events)
    told = session.take(m.TileDrawn(0, 60))
    session.answer(told[-1].prompt_id, told[-1].legal[0])
    assert rendered(session.outbox())[-1] == '{"tag":"D","p":60}'
    session.take(m.TileDiscarded(0, 60))
    told = session.take(m.TileDiscarded(3, 61, offers=m.OFFER_CHI))
    assert len(told[-1].legal) == 1
    session.take(m.RoundDrawn("exhaustive", 0, 0, (25_000,) * 4, (0,) * 4))
    session.take(m.RoundDealt(0, 1, 0, 135, (25_000,) * 4, 0, HAND))
    assert isinstance(session.take(m.TileDrawn(0, 60))[-1], PromptOpened)
    assert len(session.prompt.legal if session.prompt else ()) > 10


def test_a_riichi_marked_after_the_last_discard_is_that_discards() -> None:
    session, events = _returned(_shot(riichi_at=(1, -1, -1, -1), rivers=((64,), (68,), (), ())))
    assert events[-1] == Resumed(0, 0, exact=False)
    assert list(session.state["riichi"]) == [2, 0, 0, 0]


@st.composite
def hostile(draw: st.DrawFn) -> m.RoundSnapshot:
    """A snapshot that the parser accepts but that no round could have."""
    tiles = list(range(136))
    random.Random(draw(st.integers(0, 10**6))).shuffle(tiles)
    melds: list[tuple[int, ...]] = [(), (), (), ()]
    for kind in draw(st.lists(st.integers(0, 33), max_size=8, unique=True)):
        seat = draw(st.integers(0, 3))
        source = draw(st.integers(1, 3))
        code = draw(st.sampled_from((_pon(kind, source), 4 * kind << 8, 4 * kind << 8 | source)))
        melds[seat] = (*melds[seat], code)
        tiles = [tile for tile in tiles if tile >> 2 != kind]
    hand = [tiles.pop() for _ in range(13 - 3 * min(4, len(melds[0])) + draw(st.integers(0, 1)))]
    rivers = [tuple(tiles.pop() for _ in range(draw(st.integers(0, 20)))) for _ in range(4)]
    marks = [draw(st.integers(-1, len(river))) for river in rivers]
    indicators = tuple(tiles.pop() for _ in range(draw(st.integers(1, 5))))
    return _shot(
        hand=tuple(hand),
        melds=tuple(melds),
        rivers=tuple(rivers),
        riichi_at=tuple(marks),
        indicators=indicators,
    )


@settings(max_examples=scaled(150, 1_000), deadline=4000)
@given(hostile())
def test_no_snapshot_hangs_or_crashes(shot: m.RoundSnapshot) -> None:
    session, events = _returned(shot)
    assert any(isinstance(event, Resumed | StateLost) for event in events)
    with contextlib.suppress(StateMismatchError):
        session.take(m.TileDrawn(1))
