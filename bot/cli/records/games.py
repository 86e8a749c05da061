"""`suzaku games`: the saved games."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bot.cli.command import command
from bot.cli.shared import SAVED_GAMES, AsJson
from bot.logs.redaction import clean_text
from bot.tenhou.game_types import describe

if TYPE_CHECKING:
    import replays.store.index
    from bot.config.settings import Config
    from replays.store.index import GameEntry

_DATE_WIDTH: Final = len("2026-01-02 03:00 JST")


@command(SAVED_GAMES)
def games(config: Config, choice: replays.store.index.GameChoice, *, as_json: AsJson = False) -> int:
    """List the saved games.

    Shows the date, place, points, type, rounds, id and opponents of each game. The place is the bot's if its
    decisions are saved with the record, else that of `--player`.
    """
    from kit.reports import write_json
    from replays.store import index

    folder = config.records.folder
    entries, problems = index.games(folder)
    listed = list(choice.of(entries))
    if as_json:
        write_json({"games": [_as_json(entry) for entry in listed], "unreadable": problems})
    else:
        sys.stdout.write(_text(listed, folder))
        for problem in problems:
            sys.stderr.write(f"skipped: {clean_text(problem)}\n")
    return 0


def _text(entries: Sequence[GameEntry], folder: Path) -> str:
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
