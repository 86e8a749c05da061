"""Times when players were away from a table: their moves were then the server's, and are no samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from game.events import EndGame, EndRound, GameEvent, PlayerLeft, PlayerReturned, StartGame

_NOT_PACKED: Final = frozenset((StartGame, EndRound, EndGame, PlayerLeft, PlayerReturned))


class Absence(msgspec.Struct, frozen=True):
    """One player's time away.

    Attributes:
        player: the player.
        first: number of the first packed event of the game after they left.
        end: number of the first packed event after their return; the number of all if they never returned.
    """

    player: int
    first: int
    end: int


def absences(events: Sequence[GameEvent]) -> list[Absence]:
    """All absences of a game, ordered by when they began."""
    if not any(type(event) is PlayerLeft for event in events):
        return []
    found: list[Absence] = []
    left: dict[int, int] = {}
    number = 0
    for event in events:
        if isinstance(event, PlayerLeft):
            left.setdefault(event.player, number)
        elif isinstance(event, PlayerReturned):
            if event.player in left:
                found.append(Absence(event.player, left.pop(event.player), number))
        else:
            number += type(event) not in _NOT_PACKED
    found += [Absence(player, first, number) for player, first in left.items()]
    return sorted(found, key=lambda absence: (absence.first, absence.player))
