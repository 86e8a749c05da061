"""Whose decisions are reviewed."""

from __future__ import annotations

from typing import NamedTuple

from bot.logs.redaction import clean_text
from bot.records.sources import Loaded
from game.errors import ReplayError
from replays.record import GameRecord
from replays.review.report import known_hands


class NotThereError(ReplayError):
    """No player of that name is in this game."""


class SeatUnsaidError(ReplayError):
    """Nothing specifies whose decisions to review."""


class Wanted(NamedTuple):
    """Whose decisions to review, and options of the report.

    Attributes:
        seat: absolute, None if not given.
        player: a name or the start of one, "" if not given.
        beside: a seat to compare with, None for none.
        anonymous: omit names, ids and dates.
    """

    seat: int | None = None
    player: str = ""
    beside: int | None = None
    anonymous: bool = False


def seat_of(loaded: Loaded, wanted: Wanted) -> int:
    """The seat to review: as requested, else as given by the record's file name, link or decisions.

    Raises:
        NotThereError: there is no such player.
        SeatUnsaidError: nothing specifies the seat, and more than one hand is known.
        ReplayError: several players match the name.
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
    raise SeatUnsaidError("nothing specifies whose decisions to review; add --player or --seat")


def known_players(record: GameRecord) -> list[int]:
    """The players whose hands the record shows; the first dealer if it shows none."""
    return [player for player, shown in enumerate(known_hands(record)) if shown] or [0]


def _seat_named(record: GameRecord, wanted: str) -> int:
    exact = [player for player, name in enumerate(record.names) if name == wanted]
    fitting = exact or [player for player, name in enumerate(record.names) if name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(clean_text(name) or "?" for name in record.names)
    if not fitting:
        raise NotThereError(f"no player is named {clean_text(wanted)!r}; the players are {names}")
    raise ReplayError(f"several players match {clean_text(wanted)!r}: {names}; use --seat to choose one")
