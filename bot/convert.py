"""`suzaku convert`: a record from one format into another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from bot.sources import full_source, load
from game.errors import ConfigError, ReplayError
from game.files import replace_file
from replays.formats import (
    FORMATS,
    LOSSES,
    Format,
    compress,
    format_of_name,
    write_game,
)
from replays.record import GameRecord, check_game_id

_SUFFIXES: Final[dict[Format, str]] = {
    "mjlog": ".mjlog.xml",
    "tenhou6": ".json",
    "link": ".url",
    "mjai": ".jsonl",
}
_STDOUT: Final = "-"


def convert(source: str, out: str, to: str | None) -> int:
    """Read a record and write it again.

    Args:
        source: a file in any format, a link to a game or its bare id, or ``-`` for stdin.
        out: the file to write, a folder that is there, or ``-`` for stdout.
        to: the format; without it the name of ``out`` says.

    Raises:
        ConfigError: nothing says in which format to write.
        ReplayError: the record cannot be read, or not be written so.
    """
    form = _format(out, to)
    record = load(full_source(source)).record
    text = write_game(record, form)
    if out == _STDOUT:
        sys.stdout.write(text)
    else:
        path = _target(out, record, form)
        _write(path, compress(text) if path.name.endswith(".gz") else text.encode("utf-8", "replace"))
        sys.stdout.write(f"{path}: {form}, {record.rounds} rounds, {len(record.events)} events\n")
    if form in LOSSES:
        sys.stderr.write(f"note: {form} does not keep {LOSSES[form]}\n")
    return 0


def _format(out: str, to: str | None) -> Format:
    found = next((form for form in FORMATS if form == to), None) if to else format_of_name(out)
    if to and found is None:
        raise ConfigError(f"--to: found {to!r}, expected one of {', '.join(FORMATS)}")
    if found is None:
        raise ConfigError(f"{out}: its name does not say which format to write; add --to {'|'.join(FORMATS)}")
    return found


def _target(out: str, record: GameRecord, form: Format) -> Path:
    path = Path(out)
    if not path.is_dir():
        return path
    # The id comes from the file that was read: only a real one becomes a name.
    return path / f"{check_game_id(record.game_id)}{_SUFFIXES[form]}"


def _write(path: Path, data: bytes) -> None:
    if path.is_symlink():
        raise ReplayError(f"{path}: a link; links are not written to")
    try:
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be written: {exc.strerror}") from exc
    except ValueError as exc:
        raise ReplayError(f"{str(path)!r}: no name for a file: {exc}") from exc
