"""A seat at a tabletop, with its clock and its open prompt.

Source of the clock: the numbers of the official web client; the server's tolerance beyond them is not known.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from bot.tenhou.game_types import GameType
from game.actions import Action
from game.state import new_round

_QUICK_S: Final = 1.0
"""A decision within this time adds the same amount to the bank."""


class ClockSettings(msgspec.Struct, frozen=True):
    """Time limits; `math.inf` for none.

    Attributes:
        base_s: for each decision.
        bank_s: in addition, per round.
        grace_s: in addition to both, for network delay.
        popup_s: between rounds, until all players are ready.
        start_s: before the first round, until all players are ready.
    """

    base_s: float = 5.0
    bank_s: float = 10.0
    grace_s: float = 1.0
    popup_s: float = 5.0
    start_s: float = 10.0


def clock_of(game_type: GameType) -> ClockSettings:
    """The clock of a game type."""
    base_s, bank_s = game_type.clock_s
    return ClockSettings(base_s=base_s, bank_s=bank_s)


class TimeLeft(msgspec.Struct, frozen=True):
    """The time left for a decision: first the seconds of every decision, then those of the bank."""

    base_s: float
    bank_s: float


class SeatClock:
    """Tenhou's clock for one seat: seconds for each decision, and a time bank refilled every round."""

    def __init__(self, settings: ClockSettings) -> None:
        self._settings = settings
        self.bank_s = settings.bank_s

    def refill(self) -> None:
        """Refill the bank at the start of a round."""
        self.bank_s = self._settings.bank_s

    def left(self, asked_at: float, now: float) -> TimeLeft:
        """The time left for a decision requested at ``asked_at``."""
        over = max(0.0, now - asked_at - self._settings.base_s)
        base_s = max(0.0, self._settings.base_s - (now - asked_at))
        return TimeLeft(base_s, max(0.0, self.bank_s - over))

    def deadline(self, asked_at: float) -> float:
        """The deadline of a decision requested at ``asked_at``."""
        return asked_at + self._settings.base_s + self.bank_s + self._settings.grace_s

    def spend(self, elapsed_s: float) -> None:
        """Account for the time of a decision."""
        if elapsed_s <= _QUICK_S:
            self.bank_s = min(self._settings.bank_s, self.bank_s + _QUICK_S)
        else:
            over = elapsed_s - self._settings.base_s
            self.bank_s = max(0.0, self.bank_s - max(0.0, over))


Presence: TypeAlias = Literal["here", "resuming", "away"]


class SeatInfo(msgspec.Struct, frozen=True):
    """The player at a seat.

    Attributes:
        name: public name.
        is_client: plays over a connection; the others are built-in players.
        resume_code: token that takes the seat back, empty if there is none.
        sex: ``M``, ``F``, or ``C`` for a computer.
    """

    name: str
    is_client: bool = False
    resume_code: str = ""
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
