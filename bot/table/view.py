"""The game as one seat's page is shown it: made from that seat's own session, which knows no hidden tile."""

from __future__ import annotations

from bot.dashboard.feed import Began, Feed, Happened, Restated
from bot.dashboard.game_messages import GameMessages, header_of
from bot.tenhou.session import Session
from bot.tenhou.session.events import SessionEvent
from bot.web.message_log import MessageLog
from replays.record import DecisionRecord


class SeatView:
    """Turns the events of a session into messages for the page.

    Args:
        show: the messages.
        program: name and version of the program.
    """

    def __init__(self, show: MessageLog, program: str) -> None:
        self._show = show
        self._program = program
        self._feed = Feed()
        self._messages: GameMessages | None = None

    def take(self, event: SessionEvent, session: Session, game_id: str) -> None:
        """Show an event of the session."""
        self._feed.hear(event, session.log, game_id, session.player)
        self._work()

    def restate(self, session: Session) -> None:
        """Show a session that was put back to an earlier state."""
        self._feed.follow(session.log)
        self._work()

    def advise(self, made: DecisionRecord) -> None:
        """Show what the policy would do now; a decision for another position is left out."""
        if self._messages is not None:
            self._messages.decided(made)

    def _work(self) -> None:
        for item in self._feed.take():
            match item:
                case Began():
                    header = header_of(item, policy="", program=self._program)
                    self._messages = GameMessages(header, self._show.send)
                case Happened(happened) if self._messages is not None:
                    self._messages.happened(happened)
                case Restated(events) if self._messages is not None:
                    self._messages.restated(events)
