from __future__ import annotations

from bot.dashboard.feed import Began, Feed, Finished, Happened, LineStateChanged, Lost, Restated
from bot.tenhou.session.events import Resumed, TableEvent
from game.events import Draw, EndRound, GameEvent
from tests.bot.dashboard.scenes import decided, happened, played


def log_of(length: int) -> list[GameEvent]:
    return [Draw(number % 4, number) for number in range(length)]


def test_a_game_is_told_from_its_beginning_to_its_end() -> None:
    items = played()
    began = [item for item in items if isinstance(item, Began)]
    assert len(began) == 1
    assert began[0].game_id.endswith(began[0].game_id[-8:])
    assert happened(items) > 200
    assert decided(items) > 40
    assert isinstance(items[-1], Finished)
    assert not [item for item in items if isinstance(item, Restated | Lost)]


def test_events_that_come_together_are_told_one_by_one() -> None:
    feed, log = Feed(), log_of(3)
    for event in log:
        feed.follow(log, event)
    assert feed.take() == [Happened(event) for event in log]


def test_an_event_rebuilt_is_the_same_event() -> None:
    feed, log = Feed(), [*log_of(2), EndRound()]
    for event in (*log[:2], EndRound()):
        feed.follow(log, event)
    assert feed.take() == [Happened(event) for event in log]


def test_a_log_that_changed_is_sent_again() -> None:
    feed, log = Feed(), log_of(5)
    for count in range(1, 6):
        feed.hear(TableEvent(log[count - 1]), log[:count], "", 0)
    feed.take()
    other = [*log[:3], *log_of(9)[6:]]
    feed.hear(Resumed(0, 0, exact=True), other, "", 0)
    assert feed.take() == [Restated(tuple(other)), LineStateChanged("playing")]
    feed.hear(TableEvent(log[0]), [*other, log[0]], "", 0)
    assert feed.take() == [Happened(log[0])]


def test_a_log_continued_between_looks_is_sent_once() -> None:
    feed, log = Feed(), log_of(6)
    for event in log[:2]:
        feed.follow(log[:2], event)
    feed.take()
    feed.hear(Resumed(0, 0, exact=True), log, "", 0)
    for event in log[4:]:
        feed.follow(log, event)
    assert feed.take() == [Restated(tuple(log)), LineStateChanged("playing")]


def test_an_unchanged_log_is_not_sent_again() -> None:
    feed, log = Feed(), log_of(2)
    for event in log:
        feed.follow(log, event)
    feed.take()
    feed.follow(log)
    assert feed.take() == []


def test_unread_items_are_dropped_and_reported() -> None:
    feed = Feed(limit=10)
    for event in log_of(25):
        feed.put(Happened(event))
    waiting = feed.take()
    assert isinstance(waiting[0], Lost)
    assert len(waiting) <= 11
    assert waiting[-1] == Happened(log_of(25)[-1])


def test_the_dashboard_is_woken_once_for_what_comes_together() -> None:
    woken = []
    feed = Feed()
    feed.on_put(lambda: woken.append(1))
    for _ in range(100):
        feed.put(LineStateChanged("open"))
    assert 1 <= len(woken) <= 2
    feed.take()
    feed.put(LineStateChanged("open"))
    assert len(woken) > 1
