"""A run's results on disk: one line that says what is played, then one line a game, added as games end.

Nothing in the file is ever changed, so a run killed at any moment leaves whole lines and at most one torn,
which is cut off when the run goes on. A game that comes twice counts once.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

import msgspec

from game.errors import ConfigError, ReplayError
from learning.arena.series import Series
from learning.arena.tally import GameRow

P = TypeVar("P", bound=Series)
T = TypeVar("T")

RESULTS_FILE: Final = "results.jsonl"


class Store(Generic[P]):
    """The results of one run; without a folder they are only in memory.

    Args:
        series: what is played.
        folder: where the results lie; made if it is missing. A run that was stopped goes on there.

    Attributes:
        rows: games so far, by number.

    Raises:
        ConfigError: another run lies in the folder.
        ReplayError: what lies there cannot be read.
        OSError: the disk does not take it.
    """

    def __init__(self, series: P, folder: Path | None = None) -> None:
        self.rows: dict[int, GameRow] = {}
        self._file = None
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / RESULTS_FILE
        if path.exists():
            self._read(path, series)
        self._file = path.open("ab")
        if self._file.tell() == 0:
            self._write(series)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Keep no more."""
        if self._file is not None:
            self._file.close()

    def add(self, row: GameRow) -> bool:
        """Keep a game; false if it is there already."""
        if row.number in self.rows:
            return False
        self.rows[row.number] = row
        self._write(row)
        return True

    def _write(self, line: P | GameRow) -> None:
        if self._file is not None:
            self._file.write(msgspec.json.encode(line) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def _read(self, path: Path, series: P) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("r+b") as file:
                file.truncate(whole)
        lines = data[:whole].splitlines()
        if lines:
            _check(series, _decode(path, 1, lines[0], type(series)), path)
        for number, line in enumerate(lines[1:], 2):
            row = _decode(path, number, line, GameRow)
            self.rows.setdefault(row.number, row)


def read_results(folder: Path, kind: type[P]) -> tuple[P, list[GameRow]]:
    """The plan and the games of a run, finished or not, by number.

    Args:
        folder: where the results lie.
        kind: of its plan.

    Raises:
        ReplayError: there is none, or it cannot be read.
    """
    path = folder / RESULTS_FILE
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as exc:
        raise ReplayError(f"{path}: {exc.strerror}") from exc
    if not lines:
        raise ReplayError(f"{path}: empty")
    rows: dict[int, GameRow] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.endswith(b"\n"):
            row = _decode(path, number, line, GameRow)
            rows.setdefault(row.number, row)
    return _decode(path, 1, lines[0], kind), [rows[number] for number in sorted(rows)]


def _decode(path: Path, number: int, line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError as exc:
        raise ReplayError(f"{path}: line {number}: {exc}; move the file away to begin anew") from exc


def _check(series: Series, found: Series, path: Path) -> None:
    names = series.__struct_fields__
    fields = [name for name in names if getattr(series, name) != getattr(found, name)]
    if fields:
        what = ", ".join(f"{name} {getattr(found, name)}, not {getattr(series, name)}" for name in fields)
        raise ConfigError(f"{path}: another run lies there ({what}); choose another --out")
