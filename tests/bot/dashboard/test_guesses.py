"""Hands that the opponents may hold, beside the running game."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec
import pytest
import structlog

from bot.config.settings import Dashboard
from bot.dashboard.feed import DecisionSent, Feed, HandsGuessed, Item
from bot.dashboard.guesses import HandGuesses, HandQuestion
from bot.dashboard.server import DashboardServer, Pump
from bot.web.message_log import MessageLog
from kit import processes
from replays.review.schema import CandidateHand, CandidateHands
from tests.bot.child_here import ChildHere
from tests.bot.dashboard.scenes import ABOUT, Watcher, gathered, played, put
from tests.bot.web.requests import PATIENCE_S
from tests.fatal import Fatal

_HAND = CandidateHand(tiles="1m 2m 3m 4m 5mr 6m 7p 8p 9p E E S S", shanten=0)
_HANDS = (CandidateHands(model="diffusion", hands=((_HAND,), (_HAND,), (_HAND,))),)


def until_decision(number: int) -> list[Item]:
    """The items of a game up to a decision with a choice."""
    items: list[Item] = []
    for item in played():
        items.append(item)
        if isinstance(item, DecisionSent) and item.made.decision.step != "forced":
            number -= 1
            if number == 0:
                return items
    raise AssertionError("the game has fewer decisions")


def answered(change: Callable[[HandsGuessed], HandsGuessed]) -> dict[str, Any]:
    """The game at a decision, about which an answer came that was changed."""
    feed, show, asked = Feed(), MessageLog("test"), []
    told: list[dict[str, Any]] = []
    show.send = told.append  # type: ignore[method-assign]
    pump = Pump(feed, show, ABOUT, asked.append)
    put(feed, until_decision(5))
    pump.work()
    assert len(asked) == 5
    last: HandQuestion = asked[-1]
    feed.put(change(HandsGuessed(last.game_id, last.round, last.event, _HANDS)))
    pump.work()
    return gathered(told)


def test_an_answer_stands_beside_its_decision() -> None:
    game = answered(lambda found: found)
    assert [bool(each["candidates"]) for each in game["decisions"]] == [False] * 4 + [True]
    assert game["decisions"][-1]["candidates"][0]["hands"][2][0]["shanten"] == 0


@pytest.mark.parametrize("changed", [{"game_id": "another"}, {"event": 999}])
def test_an_answer_about_another_game_or_decision_is_dropped(changed: dict[str, Any]) -> None:
    game = answered(lambda found: msgspec.structs.replace(found, **changed))
    assert not any(each["candidates"] for each in game["decisions"])


def test_the_page_of_a_running_game_is_sent_hands_of_the_opponents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.dashboard.guesses.Child", ChildHere)
    feed = Feed()
    with DashboardServer(Dashboard(port=0, candidates=3), tmp_path, ABOUT, feed) as serving:
        put(feed, until_decision(30))
        watcher = Watcher(serving.port)
        try:
            watcher.hear(lambda message: message["type"] == "hands")
            decision = next(each for each in watcher.game["decisions"] if each["candidates"])
        finally:
            watcher.close()
    assert [each["model"] for each in decision["candidates"]] == ["diffusion", "autoregressive"]
    for model in decision["candidates"]:
        for hands in model["hands"]:
            assert len(hands) == 3
            assert len({len(hand["tiles"].split()) for hand in hands}) == 1


def test_a_process_that_cannot_start_leaves_the_page_without_hands() -> None:
    feed, asked = Feed(), []
    put(feed, until_decision(5))
    pump = Pump(feed, MessageLog("test"), ABOUT, asked.append)
    pump.work()
    found: SimpleQueue[HandsGuessed] = SimpleQueue()
    processes.on_start(Fatal())
    guesses = HandGuesses(2, found.put)
    try:
        with structlog.testing.capture_logs() as logs:
            guesses.ask(asked[0])
            deadline = time.monotonic() + PATIENCE_S
            while not any(entry["event"] == "dashboard.guesses_off" for entry in logs):
                assert time.monotonic() < deadline
                time.sleep(0.02)
        guesses.ask(asked[1])  # is ignored
    finally:
        guesses.close()
        processes.on_start(processes.nothing)
    assert found.empty()
