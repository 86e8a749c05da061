"""Whose decisions are reviewed."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from bot.logs.redaction import clean_text
from bot.records.sources import LoadedRecord
from kit.errors import ReplayError
from kit.options import INTERNAL
from replays.record import GameRecord
from replays.review.report import known_hands


class NotThereError(ReplayError):
    """No player of that name is in this game."""


class PlayerUnsaidError(ReplayError):
    """Nothing specifies whose decisions to review."""


class ReviewPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Whose decisions to review, and what the reviews show.

    Attributes:
        seat: player to review, by number; 0 is the first dealer.
        player: player to review, by name or the start of it.
        beside: a player whose figures to show as well, by number.
        anonymous: omit names, ranks, ids and dates.
        all_seats: review all four players on one page, with a switch.
        candidates: show so many hands that each opponent may hold, at each decision and by each model of
            hands.
    """

    seat: Annotated[int, Meta(ge=0, le=3)] | None = None
    player: str = ""
    beside: Annotated[int | None, INTERNAL] = None
    anonymous: bool = False
    all_seats: bool = False
    candidates: Annotated[int, Meta(ge=0, le=100)] = 0


def player_of(loaded: LoadedRecord, plan: ReviewPlan) -> int:
    """The player to review: as requested, else as given by the record's file name, link or decisions.

    If all seats are reviewed, any will do.

    Raises:
        NotThereError: there is no such player.
        PlayerUnsaidError: nothing specifies the player, and more than one hand is known.
        ReplayError: several players match the name.
    """
    if plan.seat is not None:
        return plan.seat
    if plan.player:
        return _player_named(loaded.record, plan.player)
    if loaded.player is not None:
        return loaded.player
    shown = known_players(loaded.record)
    if len(shown) == 1 or plan.all_seats:
        return shown[0]
    raise PlayerUnsaidError(
        "nothing specifies whose decisions to review; add --player, --seat or --all-seats"
    )


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
