"""Whose decisions are reviewed."""

from __future__ import annotations

from typing import NamedTuple

from bot.logs.redaction import clean_text
from bot.records.sources import LoadedRecord
from game.errors import ReplayError
from replays.record import GameRecord
from replays.review.report import known_hands


class NotThereError(ReplayError):
    """No player of that name is in this game."""


class PlayerUnsaidError(ReplayError):
    """Nothing specifies whose decisions to review."""


class Wanted(NamedTuple):
    """Whose decisions to review, and options of the report.

    Attributes:
        player: absolute, None if not given.
        name: name of the player, or the start of it; "" if not given.
        beside: a player to compare with, None for none.
        anonymous: omit names, ids and dates.
        all_seats: review the other players as well.
    """

    player: int | None = None
    name: str = ""
    beside: int | None = None
    anonymous: bool = False
    all_seats: bool = False


def player_of(loaded: LoadedRecord, wanted: Wanted) -> int:
    """The player to review: as requested, else as given by the record's file name, link or decisions.

    Raises:
        NotThereError: there is no such player.
        PlayerUnsaidError: nothing specifies the player, and more than one hand is known.
        ReplayError: several players match the name.
    """
    if wanted.player is not None:
        return wanted.player
    if wanted.name:
        return _player_named(loaded.record, wanted.name)
    if loaded.player is not None:
        return loaded.player
    shown = known_players(loaded.record)
    if len(shown) == 1:
        return shown[0]
    raise PlayerUnsaidError("nothing specifies whose decisions to review; add --player or --seat")


def known_players(record: GameRecord) -> list[int]:
    """The players whose hands the record shows; the first dealer if it shows none."""
    return [player for player, shown in enumerate(known_hands(record)) if shown] or [0]


def _player_named(record: GameRecord, wanted: str) -> int:
    exact = [player for player, name in enumerate(record.names) if name == wanted]
    fitting = exact or [player for player, name in enumerate(record.names) if name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(clean_text(name) or "?" for name in record.names)
    if not fitting:
        raise NotThereError(f"no player is named {clean_text(wanted)!r}; the players are {names}")
    raise ReplayError(f"several players match {clean_text(wanted)!r}: {names}; use --seat to choose one")
