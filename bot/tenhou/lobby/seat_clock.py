"""Tenhou's clock of one seat: seconds for each decision, and a bank that every round refills.

Source: the numbers of the official web client; what its server tolerates beyond them is not known.
"""

from __future__ import annotations

from typing import Final

import msgspec

from bot.tenhou.game_types import GameType

_QUICK_S: Final = 1.0
"""A decision within this gives as much back to the bank."""


class ClockSettings(msgspec.Struct, frozen=True):
    """How long things may take.

    Attributes:
        base_s: for each decision.
        bank_s: beyond that, in one round.
        grace_s: on top of both, for the way there and back.
        popup_s: between rounds, until everybody is ready.
        start_s: before the first round, until everybody is ready.
    """

    base_s: float = 5.0
    bank_s: float = 10.0
    grace_s: float = 1.0
    popup_s: float = 5.0
    start_s: float = 10.0


def clock_of(game_type: GameType) -> ClockSettings:
    """The clock of a kind of table."""
    base_s, bank_s = game_type.clock_s
    return ClockSettings(base_s=base_s, bank_s=bank_s)


class SeatClock:
    """What is left of one seat's bank."""

    def __init__(self, settings: ClockSettings) -> None:
        self._settings = settings
        self.bank_s = settings.bank_s

    def refill(self) -> None:
        """A round begins."""
        self.bank_s = self._settings.bank_s

    def deadline(self, asked_at: float) -> float:
        """When a decision asked for at ``asked_at`` is over."""
        return asked_at + self._settings.base_s + self.bank_s + self._settings.grace_s

    def spend(self, elapsed_s: float) -> None:
        """A decision took this long."""
        if elapsed_s <= _QUICK_S:
            self.bank_s = min(self._settings.bank_s, self.bank_s + _QUICK_S)
        else:
            over = elapsed_s - self._settings.base_s
            self.bank_s = max(0.0, self.bank_s - max(0.0, over))
