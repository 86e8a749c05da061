"""Whose decisions are reviewed."""

from __future__ import annotations

from typing import NamedTuple

from bot.redaction import clean_text
from bot.sources import Loaded
from game.errors import ReplayError
from replays.record import GameRecord
from replays.review.report import known_hands


class NotThereError(ReplayError):
    """Nobody of that name plays in this game."""


class SeatUnsaidError(ReplayError):
    """Nothing says whose decisions are meant."""


class Wanted(NamedTuple):
    """Whose decisions, and what the reports hold.

    Attributes:
        seat: absolute, None if not said.
        player: a name or how it begins, "" if not said.
        beside: a seat to compare with, None for none.
        anonymous: leave out names, ids and dates.
    """

    seat: int | None = None
    player: str = ""
    beside: int | None = None
    anonymous: bool = False


def seat_of(loaded: Loaded, wanted: Wanted) -> int:
    """Whose decisions are meant: as asked for, else as the record's name, link or decisions say.

    Raises:
        NotThereError: there is no such player.
        SeatUnsaidError: nothing says it, and more than one hand is known.
        ReplayError: there is more than one player of that name.
    """
    if wanted.seat is not None:
        return wanted.seat
    if wanted.player:
        return _seat_named(loaded.record, wanted.player)
    if loaded.seat is not None:
        return loaded.seat
    shown = known_players(loaded.record)
    if len(shown) == 1:
        return shown[0]
    raise SeatUnsaidError("nothing says whose decisions; --player or --seat does")


def known_players(record: GameRecord) -> list[int]:
    """Whose hands the record shows; the first dealer where it shows nobody's."""
    return [player for player, shown in enumerate(known_hands(record)) if shown] or [0]


def _seat_named(record: GameRecord, wanted: str) -> int:
    exact = [player for player, name in enumerate(record.names) if name == wanted]
    fitting = exact or [player for player, name in enumerate(record.names) if name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(clean_text(name) or "?" for name in record.names)
    if not fitting:
        raise NotThereError(f"nobody is called {clean_text(wanted)!r}; the players are {names}")
    raise ReplayError(f"more than one is called {clean_text(wanted)!r}: {names}; --seat says which")
