"""The dashboard task that follows the game, from the feed to the message log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from bot.dashboard.feed import (
    Adapting,
    Began,
    DecisionSent,
    Feed,
    Finished,
    HandsGuessed,
    Happened,
    Item,
    LineStateChanged,
    Lost,
    Missed,
    Restated,
)
from bot.dashboard.game_messages import GameMessages, header_of
from bot.dashboard.guesses import HandQuestion
from bot.dashboard.session import SessionFacts
from bot.web.message_log import MessageLog

log = structlog.get_logger(__name__)


class SessionInfo(msgspec.Struct, frozen=True):
    """The constant facts of a session.

    Attributes:
        program: name and version.
        policy: name of the policy that plays.
        budget_ms: per decision.
        wanted: number of games to play.
    """

    program: str
    policy: str = ""
    budget_ms: int = 0
    wanted: int = 0


class Pump:
    """Passes items from the feed to the message log.

    Args:
        feed: items from the game.
        message_log: messages for the browsers.
        about: the session.
        ask: called with every decision, to find out what the opponents may hold.
    """

    def __init__(
        self,
        feed: Feed,
        message_log: MessageLog,
        about: SessionInfo,
        ask: Callable[[HandQuestion], None] | None = None,
    ) -> None:
        self._feed = feed
        self._log = message_log
        self._about = about
        self._ask = ask
        fixed: dict[str, Any] = {
            "policy": about.policy,
            "budget_ms": about.budget_ms,
            "wanted": about.wanted,
        }
        self._facts = SessionFacts(fixed)
        self._messages: GameMessages | None = None
        self._log.session(self._facts.facts())

    def work(self) -> None:
        """Show all new items."""
        items = self._feed.take()
        for item in items:
            try:
                self._take(item)
            except Exception:  # worker loop: on an error, show nothing until the next game
                log.exception("dashboard.failed", until="the next game; nothing is shown")
                self._messages = None
        if items:
            self._log.session(self._facts.facts())

    def end(self) -> None:
        """End the session."""
        self.work()
        self._facts.line = "over"
        self._log.session(self._facts.facts())
        self._log.end()

    def _take(self, item: Item) -> None:
        messages = self._messages
        match item:
            case Began():
                self._facts.line = "playing"
                self._facts.began(item)
                header = header_of(item, policy=self._about.policy, program=self._about.program)
                self._messages = GameMessages(header, self._log.send, self._ask)
            case Happened(event):
                if messages is not None:
                    messages.replay((event,), ())
            case Restated(events):
                if messages is not None:
                    messages.restated(events)
            case DecisionSent(made):
                self._facts.decided(item)
                if messages is not None:
                    messages.decided(made)
            case HandsGuessed():
                if messages is not None:
                    messages.guessed(item)
            case Adapting(status):
                self._facts.adaptation = status
            case Finished():
                self._facts.line = "waiting"
                self._facts.finished(item)
            case Missed():
                self._facts.missed += 1
                self._messages = None
            case Lost():
                self._messages = None
            case LineStateChanged(state):
                self._facts.line = "playing" if state == "open" and messages is not None else state
