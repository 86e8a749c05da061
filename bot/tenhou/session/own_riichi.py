"""The progress of a riichi that we send.

======== ============= ============ =============== ===================
state    we declare    other answer two seconds     server confirms
======== ============= ============ =============== ===================
NONE     SENT          NONE         .               folded: NONE
SENT     SENT          NONE         ASSUMED         folded: NONE
ASSUMED  .             ASSUMED      .               skipped: NONE
======== ============= ============ =============== ===================
"""

from __future__ import annotations

from enum import Enum

from bot.tenhou.messages import server_messages as m


class RiichiState(Enum):
    """The progress of our own riichi."""

    NONE = "no riichi is pending"
    SENT = "sent, not confirmed yet"
    ASSUMED = "folded before the server confirmed it; the confirmation will be skipped"


class OwnRiichi:
    """Our riichi, from its declaration to its confirmation.

    Attributes:
        state: how far it has come.
    """

    def __init__(self) -> None:
        self.state = RiichiState.NONE

    @property
    def is_pending(self) -> bool:
        """Whether it was sent and the server has not confirmed it yet."""
        return self.state is RiichiState.SENT

    def reset(self) -> None:
        """Forget it, for a new round or a new connection."""
        self.state = RiichiState.NONE

    def forget_sent(self) -> None:
        """Forget it if it was only sent: the game has gone on."""
        if self.is_pending:
            self.state = RiichiState.NONE

    def note_answer(self, *, is_riichi: bool) -> None:
        """Note an answer of ours, which may declare it."""
        self.forget_sent()
        if is_riichi:
            self.state = RiichiState.SENT

    def assume(self) -> None:
        """Note that it was folded before the server confirmed it."""
        self.state = RiichiState.ASSUMED

    def skips(self, message: m.ServerMessage) -> bool:
        """Whether a frame only confirms the riichi that we assumed; the first such frame is skipped."""
        if self.state is not RiichiState.ASSUMED:
            return False
        if not isinstance(message, m.RiichiStep) or message.seat != 0:
            return False
        self.state = RiichiState.NONE
        return message.step == 1
