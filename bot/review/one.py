"""One game: the player whose decisions are reviewed, the review, and its page and JSON."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from bot.logs.redaction import clean_text
from bot.records.sources import LoadedRecord
from kit.errors import ReplayError
from kit.options import INTERNAL
from replays.files import write_file
from replays.record import GameRecord
from replays.review.report import Reviewer, as_json, known_hands
from replays.review.schema import Review
from replays.viewer.page import page


class UnknownPlayerError(ReplayError):
    """No player of that name is in this game."""


class SeatMissingError(ReplayError):
    """Nothing specifies whose decisions to review; the players, by name, are those whose hands are known."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__("nothing specifies whose decisions to review; add --player, --seat or --all-seats")
        self.names = frozenset(names)


class ReviewPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Whose decisions to review, and what the reviews show.

    Attributes:
        seat: player to review, by number; 0 is the first dealer.
        player: player to review, by name or the start of it.
        beside: a player whose figures to show as well, by number.
        anonymous: omit names, ranks, ids and dates.
        all_seats: review all four players on one page, with a switch.
        candidates: number of possible hands to show for each opponent, at each decision and from each model
            of hands.
        table: file for a table of the games.
    """

    seat: Annotated[int, Meta(ge=0, le=3)] | None = None
    player: str = ""
    beside: Annotated[int | None, INTERNAL] = None
    anonymous: bool = False
    all_seats: bool = False
    candidates: Annotated[int, Meta(ge=0, le=100)] = 0
    table: Annotated[Path | None, INTERNAL] = None


def player_of(loaded: LoadedRecord, plan: ReviewPlan) -> int:
    """The player to review: as requested, else as given by the record's file name, link or decisions.

    If all seats are reviewed, any will do.

    Raises:
        UnknownPlayerError: there is no such player.
        SeatMissingError: nothing specifies the player, and more than one hand is known.
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
    raise SeatMissingError([loaded.record.names[player] for player in shown])


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
        raise UnknownPlayerError(
            f"no player is named {clean_text(wanted[:_LONGEST_STEM])!r}; the players are {names}"
        )
    raise ReplayError(
        f"several players match {clean_text(wanted[:_LONGEST_STEM])!r}: {names}; use --seat to choose one"
    )


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_STEM: Final = 60


def file_name(loaded: LoadedRecord, made: Review, *, anonymous: bool) -> str:
    """A name for the files of a review, without suffix; for an anonymous review it reveals nothing."""
    if anonymous:
        return f"review-{hashlib.sha256(as_json(made)).hexdigest()[:12]}"
    stem = made.game.id or loaded.name.split(".")[0] or "game"
    return f"{_UNSAFE.sub('_', stem)[:_LONGEST_STEM]}-{made.player}"


def reason_of(error: Exception, path: Path | str) -> str:
    """The error message without the path, which the caller's message already names."""
    return str(error).removeprefix(f"{path}: ")


def chosen_player(loaded: LoadedRecord, plan: ReviewPlan) -> int:
    """The player to review in a single game; prints a note to stderr if nothing specifies it.

    Raises:
        ReplayError: there is no such player, or more than one.
    """
    try:
        return player_of(loaded, plan)
    except SeatMissingError:
        known = known_players(loaded.record)
    names = ", ".join(f"{player} {clean_text(loaded.record.names[player]) or '?'}" for player in known)
    sys.stderr.write(
        f"note: reviewing seat {known[0]}; use --seat or --player to choose another of {names}, or "
        "--all-seats\n"
    )
    return known[0]


def reviewed(reviewer: Reviewer, loaded: LoadedRecord, player: int, plan: ReviewPlan) -> Review:
    """The review of a record for one player.

    Raises:
        ReplayError: it cannot be reviewed.
        ModelError: the policy gives no usable answer.
    """
    return reviewer.review(
        loaded.record,
        player,
        source=loaded.source,
        beside=plan.beside,
        anonymous=plan.anonymous,
        all_seats=plan.all_seats,
    )


def write_review(made: Review, name: str, folder: Path) -> list[Path]:
    """Write a review as a page and as JSON; return the paths.

    Raises:
        ReplayError: the files cannot be written.
    """
    data = as_json(made)
    files = {f"{name}.html": page(data).encode("utf-8", "replace"), f"{name}.json": data}
    return [put(folder, file, content) for file, content in files.items()]


def put(folder: Path, name: str, data: bytes) -> Path:
    """Write a result file atomically.

    Raises:
        ReplayError: the file cannot be written.
    """
    path = folder / name
    write_file(path, data, "remove it, or name another folder", new_folder=True)
    return path
