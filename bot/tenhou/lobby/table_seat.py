"""A seat at a tabletop, and its open prompt."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from bot.tenhou.lobby.seat_clock import ClockSettings, SeatClock
from game.actions import Action
from game.state import new_round

Presence: TypeAlias = Literal["here", "resuming", "away"]


class SeatInfo(msgspec.Struct, frozen=True):
    """The player at a seat.

    Attributes:
        name: public name.
        is_client: plays over a connection; the others are built-in players.
        resume_code: token that takes the seat back, empty if there is none.
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


class TablePrompt(msgspec.Struct, frozen=True):
    """A decision that the table requests from a player.

    Attributes:
        number: serial number in the game.
        player: who must decide.
        legal: the player's legal actions.
        asked_at: time of the request.
    """

    number: int
    player: int
    legal: tuple[Action, ...]
    asked_at: float


class TableSeat:
    """One seat at a tabletop, with its clock and its open prompt."""

    def __init__(self, info: SeatInfo, clock: ClockSettings) -> None:
        self.info = info
        self.clock = SeatClock(clock)
        self.presence: Presence = "here"
        self.gave_up = False  # the clock ran out while the player was away: no further waiting
        self.ready = not info.is_client
        self.furiten = False
        self.view = new_round()
        self.prompt: TablePrompt | None = None
        self.answer: Action | None = None

    @property
    def listens(self) -> bool:
        """Whether frames reach a client."""
        return self.info.is_client and self.presence == "here"

    @property
    def deadline(self) -> float | None:
        """When the table answers the open prompt itself; None if no client has to answer."""
        if self.prompt is None or self.answer is not None or not self.info.is_client:
            return None
        asked_at = self.prompt.asked_at
        return asked_at if self.gave_up and self.presence == "away" else self.clock.deadline(asked_at)
