"""The log of a duel as a page, with nothing hidden."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from bot.logs.redaction import clean_text
from bot.records.sources import STDIN, shown
from bot.review.one import ReviewPlan, put
from game.two_player.log import BEGINNING, DuelLog, parse_log
from kit.errors import ConfigError, ReplayError
from replays.files import read_file
from replays.formats import MAX_FILE
from replays.viewer.page import duel_page


def duel_log(source: str) -> DuelLog | None:
    """The log of a duel that a source is; None if it is anything else.

    Args:
        source: as for `bot.records.sources.load`; only files are looked at.

    Raises:
        ReplayError: it is the log of a duel, but cannot be read.
    """
    path = Path(source)
    if source == STDIN or "://" in source or not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(len(BEGINNING)) != BEGINNING:
            return None
    try:
        return parse_log(read_file(path, MAX_FILE))
    except ReplayError as exc:
        raise type(exc)(f"{shown(source)}: {exc}") from exc


def review_duel(log: DuelLog, name: str, folder: Path | None, *, to_json: bool) -> int:
    """Write the page of a duel, and report who won.

    Args:
        log: the duel.
        name: of the page, without suffix.
        folder: for it; None to write none.
        to_json: print the log as one JSON object instead of the report.

    Returns:
        The exit code.

    Raises:
        ReplayError: the page cannot be written.
    """
    data = msgspec.json.encode(log)
    paths = (
        [] if folder is None else [put(folder, f"{name}.html", duel_page(data).encode("utf-8", "replace"))]
    )
    if to_json:
        sys.stdout.write(data.decode() + "\n")
        return 0
    names = [clean_text(each) for each in log.header.names]
    last = log.states[-1]
    result = "nobody wins" if last.winner is None else f"{names[last.winner]} wins, points: {last.points}"
    sys.stdout.write(f"{names[0]} against {names[1]}: {last.round} rounds; {result}\n")
    sys.stdout.writelines(f"{path}\n" for path in paths)
    return 0


def check_options(plan: ReviewPlan, *, compares: bool) -> None:
    """Refuse options of a review that mean nothing for a duel.

    Raises:
        ConfigError: one of them was given.
    """
    options = (
        ("--seat", plan.seat is not None),
        ("--player", plan.player),
        ("--compare", compares),
        ("--all-seats", plan.all_seats),
    )
    for option, given in options:
        if given:
            raise ConfigError(
                f"{option} does not apply to a duel, whose page shows both players; leave it out"
            )
