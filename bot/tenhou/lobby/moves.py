"""The moves of a game: with its seeds, enough to play it again exactly."""

from __future__ import annotations

import msgspec

from game.actions import Action
from game.events import GameEvent, PlayerLeft, PlayerReturned


class Move(msgspec.Struct, frozen=True, omit_defaults=True, tag="move"):
    """One step of a game: all players' answers, a player leaving or returning, or else the next deal.

    Attributes:
        answers: of the players who were asked.
        presence: who left or returned.
        banks: seconds left in each player's time bank afterwards.
        events: what happened, all tiles known.
    """

    answers: tuple[tuple[int, Action], ...] = ()
    presence: PlayerLeft | PlayerReturned | None = None
    banks: tuple[float, ...] = ()
    events: tuple[GameEvent, ...] = ()
