"""Who sits at a tabletop, and what is asked of him."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from bot.tenhou.lobby.seat_clock import ClockSettings, SeatClock
from game.actions import Action
from game.state import new_round

Presence: TypeAlias = Literal["here", "resuming", "away"]


class SeatInfo(msgspec.Struct, frozen=True):
    """Who sits down.

    Attributes:
        name: public name.
        is_client: plays over a line; the others are the lobby's own players.
        resume_code: token that takes the seat back, empty where none is given out.
        rank: rank index.
        rate: rating.
        sex: ``M``, ``F``, or ``C`` for a computer.
    """

    name: str
    is_client: bool = False
    resume_code: str = ""
    rank: int = 0
    rate: float = 1500.0
    sex: str = "M"


class Prompt(msgspec.Struct, frozen=True):
    """A question the table has put to a player.

    Attributes:
        number: counts all questions of the game.
        player: who is asked.
        legal: what he may do.
        asked_at: when.
    """

    number: int
    player: int
    legal: tuple[Action, ...]
    asked_at: float


class TableSeat:
    """One seat at a tabletop, with its clock and its open question."""

    def __init__(self, info: SeatInfo, clock: ClockSettings) -> None:
        self.info = info
        self.clock = SeatClock(clock)
        self.presence: Presence = "here"
        self.gave_up = False  # his clock ran out while he was away: his further decisions are not waited for
        self.ready = not info.is_client
        self.furiten = False
        self.view = new_round()
        self.prompt: Prompt | None = None
        self.answer: Action | None = None

    @property
    def listens(self) -> bool:
        """Whether frames reach somebody."""
        return self.info.is_client and self.presence == "here"

    @property
    def deadline(self) -> float | None:
        """When his open question is answered for him, None if nothing is asked of a client."""
        if self.prompt is None or self.answer is not None or not self.info.is_client:
            return None
        asked_at = self.prompt.asked_at
        return asked_at if self.gave_up and self.presence == "away" else self.clock.deadline(asked_at)
