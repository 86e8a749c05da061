"""One game: reviewed, and written as a page and JSON."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Final

from bot.logs.redaction import clean_text
from bot.records.sources import LoadedRecord
from bot.review.source import PlayerUnsaidError, ReviewPlan, known_players, player_of
from kit.errors import ReplayError
from kit.files import replace_file
from replays.review.report import Reviewer, as_json
from replays.review.schema import Review
from replays.viewer.page import page

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
    except PlayerUnsaidError:
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            raise ReplayError(f"{path}: a symbolic link; remove it, or name another folder")
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be written: {exc.strerror}") from exc
    return path
