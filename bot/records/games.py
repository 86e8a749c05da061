"""`suzaku games`: list the games of the library, all or filtered."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bot.logs.redaction import clean_text
from bot.tenhou.game_types import describe
from kit.reports import write_json
from replays.store.index import GameChoice, GameEntry, games

_DATE_WIDTH: Final = len("2026-01-02 03:00 JST")


def list_games(folder: Path, choice: GameChoice, *, as_json: bool) -> int:
    """Print the games of a library.

    Args:
        folder: folder of the records.
        choice: which games.
        as_json: print one JSON object.

    Raises:
        ReplayError: the folder cannot be read.
    """
    entries, problems = games(folder)
    listed = list(choice.of(entries))
    if as_json:
        write_json({"games": [_as_json(entry) for entry in listed], "unreadable": problems})
    else:
        sys.stdout.write(games_text(listed, folder))
        for problem in problems:
            sys.stderr.write(f"skipped: {clean_text(problem)}\n")
    return 0


def games_text(entries: Sequence[GameEntry], folder: Path) -> str:
    """The list as text: one game per line, oldest first, and the average place."""
    if not entries:
        return f"no games in {folder}\n"
    lines = [_line(entry) for entry in entries]
    places = [entry.placement for entry in entries if entry.placement is not None]
    average = f", average place {sum(places) / len(places):.2f} in {len(places)}" if places else ""
    return "\n".join([*lines, f"{len(entries)} game{'s' if len(entries) != 1 else ''}{average}"]) + "\n"


def _line(entry: GameEntry) -> str:
    if entry.player < 0 or entry.scores is None:
        own = "-  " if entry.scores is not None else "cut"
        points = " " * 15
    else:
        own = f"{entry.placement}  "
        assert entry.results is not None
        points = f"{entry.scores[entry.player]:>7,} {entry.results[entry.player] / 10:>+7.1f}"
    names = ", ".join(clean_text(name) or "?" for name in entry.opponents)
    date_text = f"{entry.date:<{_DATE_WIDTH}}"
    kind = describe(entry.game_type)
    return f"{date_text}  {own}{points}  {kind:<16} {entry.rounds:>2} rounds  {entry.game_id}  {names}"


def _as_json(entry: GameEntry) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(entry)
    shown["results"] = None if entry.results is None else [tenths / 10 for tenths in entry.results]
    shown["player"] = entry.player if entry.player >= 0 else None
    shown["placement"] = entry.placement
    shown["opponents"] = list(entry.opponents)
    return shown
