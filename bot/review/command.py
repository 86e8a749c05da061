"""What is asked for, checked before anything is reviewed."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.models import use_threads
from bot.review.folder import review_folder
from bot.review.one import file_name, reason_of, reviewed, write_review
from bot.review.source import Wanted, load
from bot.review.text import review_text
from bot.tenhou.links import full_link
from game.distribution import program_name
from game.errors import ConfigError, ReplayError
from policies.named import Named, load_named
from replays.review.report import Reviewer, as_json

if TYPE_CHECKING:
    from policies.inference import Averaging

OUT: Final = Path("reviews")

_SEAT: Final = re.compile("seat:([0-3])")
_SHOWN: Final = 100
"""Characters of a link that a message repeats: one with the whole game in it is long."""


def review(
    source: str,
    *,
    seat: int | None,
    player: str,
    policy: str,
    compare: str,
    averaging: Averaging,
    out: Path | None,
    to_json: bool,
    anonymous: bool,
) -> int:
    """Review what is named.

    Args:
        source: a file, a folder, or a link.
        seat: whose decisions, absolute.
        player: the same by name, or by how it begins.
        policy: a built-in one, or a folder of checkpoints.
        compare: another one, or ``seat:N``; "" for none.
        averaging: renamings of the tiles that networks average over where their names do not say.
        out: folder of the results.
        to_json: print the JSON; files are then written only where ``out`` is given.
        anonymous: leave out names, ids and dates.

    Returns:
        The exit code.

    Raises:
        ConfigError: something is asked for that is not there, or that does not go together.
        ReplayError: a record cannot be read or reviewed.
    """
    wanted = _wanted(seat, player, compare, anonymous=anonymous)
    folder = out or (None if to_json else OUT)
    if folder is not None:
        _check_folder(folder)
    link = full_link(source)
    is_folder = link is None and _is_folder(source)
    reviewer = make_reviewer(policy, "" if wanted.beside is not None else compare, averaging)
    if is_folder:
        return review_folder(Path(source), reviewer, wanted, folder, to_json=to_json)
    try:
        loaded = load(link or source)
        made = reviewed(reviewer, loaded, wanted, tell=True)
    except ReplayError as exc:
        raise ReplayError(f"{source[:_SHOWN]}: {reason_of(exc, source)}") from exc
    paths = write_review(made, file_name(loaded, made, anonymous=anonymous), folder) if folder else []
    if to_json:
        sys.stdout.write(as_json(made).decode())
    else:
        sys.stdout.write(review_text(made, paths))
    return 0


def make_reviewer(policy: str, compare: str, averaging: Averaging) -> Reviewer:
    """Load the policies and the reward predictor.

    Raises:
        ConfigError: a policy is not there.
        CheckpointError: its checkpoints cannot be used.
    """
    use_threads()
    from policies.inference import SHIPPED  # noqa: PLC0415 - torch comes with it
    from replays.review.prospects import load_predictor  # noqa: PLC0415 - likewise

    named = load_named(policy, averaging)
    other: Named | None = load_named(compare, averaging) if compare else None
    return Reviewer(program_name(), named, load_predictor(SHIPPED), other)


def _wanted(seat: int | None, player: str, compare: str, *, anonymous: bool) -> Wanted:
    if seat is not None and player:
        raise ConfigError("--seat and --player both say whose decisions; give one of them")
    beside = _SEAT.fullmatch(compare)
    if beside is None and compare.startswith("seat:"):
        raise ConfigError(f"--compare {compare}: there is no such seat; seat:0 to seat:3 are")
    return Wanted(seat, player, int(beside.group(1)) if beside else None, anonymous)


def _check_folder(folder: Path) -> None:
    """Before anything is reviewed: whether results can go there."""
    there = folder
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise ConfigError(f"--out {folder}: {there} is no folder; name one, or one that can be made")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"--out {folder}: {there} cannot be written to; name another folder")


def _is_folder(source: str) -> bool:
    path = Path(source)
    try:
        path.stat()
    except FileNotFoundError:
        raise ReplayError(f"{source}: there is no such file or folder") from None
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else exc
        raise ReplayError(f"{source[:_SHOWN]}: cannot be read: {why}") from exc
    return path.is_dir()
