"""`suzaku convert`: convert a record from one format to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from bot.records.sources import full_source, load
from kit.errors import ConfigError, ReplayError
from kit.files import replace_file
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


def convert(source: str, out: str, to: Format | None) -> int:
    """Read a record and write it in another format.

    Args:
        source: a file in any format, a link to a game or its id, or ``-`` for stdin.
        out: the file to write, an existing folder, or ``-`` for stdout.
        to: the format; None chooses it by the suffix of ``out``.

    Raises:
        ConfigError: the format to write is not given.
        ReplayError: the record cannot be read, or cannot be written in this format.
    """
    form = to or format_of_name(out)
    if form is None:
        raise ConfigError(f"{out}: the suffix matches no format; add --to {'|'.join(FORMATS)}")
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


def _target(out: str, record: GameRecord, form: Format) -> Path:
    path = Path(out)
    if not path.is_dir():
        return path
    # The id comes from the file that was read: use it as a file name only if it is valid.
    return path / f"{check_game_id(record.game_id)}{_SUFFIXES[form]}"


def _write(path: Path, data: bytes) -> None:
    if path.is_symlink():
        raise ReplayError(f"{path}: a symbolic link; name the file itself")
    try:
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be written: {exc.strerror}") from exc
    except ValueError as exc:
        raise ReplayError(f"{str(path)!r}: not a valid file name: {exc}") from exc
