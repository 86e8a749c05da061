"""The decisions of a game that can be taken back."""

from __future__ import annotations

import copy
from typing import Final

import msgspec

from bot.tenhou.lobby.tabletop import Tabletop
from bot.tenhou.session import Session

MOST: Final = 200
"""Decisions that can be taken back; each takes some ten kilobytes of memory."""


class Earlier(msgspec.Struct, frozen=True):
    """A game as it was when a prompt opened.

    Attributes:
        tabletop: the table.
        session: the seat's session.
    """

    tabletop: Tabletop
    session: Session


class DecisionHistory:
    """The states of a game in which a person was asked, oldest first."""

    def __init__(self) -> None:
        self._states: list[Earlier] = []

    def keep(self, tabletop: Tabletop, session: Session) -> None:
        """Add a copy of the state in which a prompt has just opened."""
        now = Earlier(copy.deepcopy(tabletop), copy.deepcopy(session))
        self._states = [*self._states[1 - MOST :], now]

    def reaches(self, *, is_open: bool) -> bool:
        """Whether there is a decision to return to.

        Args:
            is_open: the last prompt has not been answered, so that its state is not an earlier one.
        """
        return len(self._states) > is_open

    def take(self, *, is_open: bool) -> Earlier:
        """Remove and return the state to return to, and forget all later ones; arguments as for `reaches`."""
        if is_open:
            self._states.pop()
        return self._states.pop()
