from __future__ import annotations

import pytest

from bot.dashboard.feed import Feed, Happened, LineStateChanged, Lost, Restated
from bot.tenhou.session.events import Resumed, TableEvent
from game.events import Draw, EndRound, GameEvent

LOG: list[GameEvent] = [Draw(number % 4, number) for number in range(25)]


@pytest.mark.parametrize(
    ("log", "looks", "told"),
    [
        (LOG[:3], LOG[:3], [Happened(event) for event in LOG[:3]]),  # those that come together one by one
        ([*LOG[:2], EndRound()], [*LOG[:2], EndRound()], [*map(Happened, LOG[:2]), Happened(EndRound())]),
        (LOG[:2], [*LOG[:2], None], [Happened(event) for event in LOG[:2]]),  # an unchanged log only once
    ],
)
def test_a_log_is_told_event_by_event(
    log: list[GameEvent], looks: list[GameEvent | None], told: list[Happened]
) -> None:
    feed = Feed()
    for event in looks:
        feed.follow(log, event)
    assert feed.take() == told


def test_a_log_that_changed_is_sent_again() -> None:
    feed, log = Feed(), LOG[:5]
    for count in range(1, 6):
        feed.hear(TableEvent(log[count - 1]), log[:count], "", 0)
    feed.take()
    other = [*log[:3], *LOG[6:9]]
    feed.hear(Resumed(0, 0, exact=True), other, "", 0)
    assert feed.take() == [Restated(tuple(other)), LineStateChanged("playing")]
    feed.hear(TableEvent(log[0]), [*other, log[0]], "", 0)
    assert feed.take() == [Happened(log[0])]


def test_a_log_continued_between_looks_is_sent_once() -> None:
    feed, log = Feed(), LOG[:6]
    for event in log[:2]:
        feed.follow(log[:2], event)
    feed.take()
    feed.hear(Resumed(0, 0, exact=True), log, "", 0)
    for event in log[4:]:
        feed.follow(log, event)
    assert feed.take() == [Restated(tuple(log)), LineStateChanged("playing")]


def test_unread_items_are_dropped_and_reported() -> None:
    feed = Feed(limit=10)
    for event in LOG:
        feed.put(Happened(event))
    waiting = feed.take()
    assert isinstance(waiting[0], Lost)
    assert len(waiting) <= 11
    assert waiting[-1] == Happened(LOG[-1])


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
