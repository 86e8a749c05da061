"""A run's results on disk: one line with the plan, then one line per game, added as games end.

Lines are only ever added, so a run killed at any moment leaves whole lines and at most one torn line, which
is cut off when the run is resumed. A game that arrives twice counts once. When a run is extended, the first
line is replaced by rewriting the whole file atomically.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, ClassVar, Final, Generic, Protocol, Self, TypeVar

import msgspec

from kit.errors import ConfigError, ModelError, ReplayError
from kit.files import hold_folder, replace_file
from kit.options import SWITCH, extra_of, flag_of
from policies.nets.compute import DEVICES, IN_PLAY, PRECISIONS, Compute


class ResumablePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan whose results are kept in a folder, one row at a time; everything that determines them."""

    counted: ClassVar[str] = "games"
    """The field with the number of rows; a plan with a larger one continues a run."""

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        return flags_of(self)

    def continues(self, other: Self) -> bool:
        """Whether the rows of another plan are the first rows of this one."""
        count = getattr(self, self.counted)
        same = msgspec.structs.replace(other, **{self.counted: count}) == self
        return same and getattr(other, self.counted) <= count


def flags_of(plan: msgspec.Struct) -> dict[str, str]:
    """The options that give a plan and the structs in it: the value of each, as text."""
    flags: dict[str, str] = {}
    for field in msgspec.structs.fields(plan):
        value, flag = getattr(plan, field.name), flag_of(field.name, field.type)
        if isinstance(value, msgspec.Struct) and flag:
            flags |= flags_of(value)
        elif SWITCH in extra_of(field.type):
            flags[flag] = _text(value != field.default)
        elif flag:
            flags[flag] = _text(value)
    return flags


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    if isinstance(value, bool):
        return "given" if value else "left out"
    return f"{value:g}" if isinstance(value, float) else str(value)


class NumberedRow(Protocol):
    """The stored part of a game."""

    @property
    def number(self) -> int:
        """The number of the game."""


P = TypeVar("P", bound=ResumablePlan)
R = TypeVar("R", bound=NumberedRow)
T = TypeVar("T")

RESULTS_FILE: Final = "results.jsonl"
_OF_PLAYERS: Final = frozenset({"identity", "challenger", "champions", "players"})
"""Fields that change with the files of a player."""


class Store(Generic[P, R]):
    """The results of one run; without a folder they are only in memory.

    Args:
        series: the games to play.
        kind: type of the row of a game.
        folder: folder of the results, created if missing. An interrupted run in it is resumed, and a run with
            fewer games is extended.

    Attributes:
        rows: games so far, by number.

    Raises:
        ConfigError: another run is in the folder, or another process writes there.
        ReplayError: the results there cannot be read.
        OSError: the results cannot be written.
    """

    def __init__(self, series: P, kind: type[R], folder: Path | None = None) -> None:
        self.rows: dict[int, R] = {}
        self._kind = kind
        self._file: BinaryIO | None = None
        self._held = contextlib.ExitStack()
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        with hold_folder(folder) as held:
            path = folder / RESULTS_FILE
            if path.exists():
                self._read(path, series)
            self._file = held.enter_context(path.open("ab"))
            if self._file.tell() == 0:
                self._write(series)
            self._held = held.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and leave the folder to others."""
        self._held.close()

    def add(self, row: R) -> bool:
        """Keep a game; return False if it is already there."""
        if row.number in self.rows:
            return False
        self.rows[row.number] = row
        self._write(row)
        return True

    def _write(self, line: P | R) -> None:
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
            found = _decode(path, 1, lines[0], type(series))
            if not series.continues(found):
                raise ConfigError(_other_run(path, series, found))
            if series != found:
                rest = data[len(lines[0]) + 1 : whole]
                replace_file(path, msgspec.json.encode(series) + b"\n" + rest)
        self.rows |= _rows(path, lines[1:], self._kind)


@contextlib.contextmanager
def writing(folder: Path | None) -> Iterator[None]:
    """Report a failure to write results in the block.

    Raises:
        ReplayError: something could not be written; the message names it.
    """
    try:
        yield
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc


@contextlib.contextmanager
def resumed(plan: P, kind: type[R], folder: Path | None, total: int) -> Iterator[Store[P, R]]:
    """The results of a run while it adds to them; arguments as for `Store`, and the total number of games.

    Raises:
        ConfigError: another run is in the folder, or another process writes there.
        ReplayError: results cannot be read or written.
        KeyboardInterrupt: stopped; the message says what is kept.
    """
    with writing(folder), Store(plan, kind, folder) as store:
        try:
            yield store
        except KeyboardInterrupt:
            games = f"{len(store.rows)} of {total} games"
            if folder is None:
                raise KeyboardInterrupt(
                    f"stopped after {games}; nothing is kept without --out FOLDER"
                ) from None
            where = f"{games} are in {folder}; give the same command again to resume"
            raise KeyboardInterrupt(f"stopped: {where}") from None


def compute_for(folder: Path | None, device: str, precision: str) -> Compute:
    """How networks compute: by the run's settings unless overridden.

    Args:
        folder: folder of the results, None for none.
        device: ``auto``, ``cpu`` or ``cuda``.
        precision: a name in `policies.nets.compute.PRECISIONS`.

    Raises:
        ConfigError: there is no such device or precision.
    """
    from policies.nets.compute import choose_compute, choose_device  # noqa: PLC0415

    if device not in DEVICES:
        raise ConfigError(f"--device: found {device!r}, expected {', '.join(DEVICES)}")
    if precision not in PRECISIONS:
        raise ConfigError(f"--precision: found {precision!r}, expected {', '.join(PRECISIONS)}")
    try:
        choose_device(device)
    except ModelError as exc:
        raise ConfigError(f"--device: {exc}; use --device auto") from exc
    try:
        chosen = choose_compute(device, precision)
    except ModelError as exc:
        raise ConfigError(f"--precision: {exc}") from exc
    begun = _begun_in(folder)
    if begun is None or begun.compute.device != chosen.device:
        return chosen
    return begun.compute if precision in ("auto", begun.compute.precision) else chosen


def tables_in(folder: Path | None) -> int | None:
    """Tables at a time of the run in a folder, which resumes with that number; None if there is none."""
    begun = _begun_in(folder)
    return begun.tables if begun is not None else None


class _Begun(msgspec.Struct, frozen=True):
    compute: Compute = IN_PLAY
    tables: int | None = None


def _begun_in(folder: Path | None) -> _Begun | None:
    """The settings that a run in a folder began with; None if there is none that can be read."""
    if folder is None:
        return None
    try:
        with (folder / RESULTS_FILE).open("rb") as lines:
            return msgspec.json.decode(lines.readline(), type=_Begun)
    except (OSError, msgspec.MsgspecError):
        return None


def read_rows(folder: Path, kind: type[P], kind_of_rows: type[R]) -> tuple[P, list[R]]:
    """The plan and the games of a run, finished, under way or stopped, by number.

    Args:
        folder: folder of the results.
        kind: type of the plan.
        kind_of_rows: type of the row of a game.

    Raises:
        ReplayError: there is no run, or it cannot be read.
    """
    path = folder / RESULTS_FILE
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as exc:
        raise ReplayError(f"{path}: {exc.strerror}") from exc
    if not lines:
        raise ReplayError(f"{path}: empty")
    plan = _decode(path, 1, lines[0], kind)
    rows = _rows(path, [line for line in lines[1:] if line.endswith(b"\n")], kind_of_rows)
    return plan, [rows[number] for number in sorted(rows)]


def _rows(path: Path, lines: Sequence[bytes], kind: type[R]) -> dict[int, R]:
    """The games of the lines after the first; of a game that is there twice, the first counts."""
    rows: dict[int, R] = {}
    for number, line in enumerate(lines, 2):
        row = _decode(path, number, line, kind)
        rows.setdefault(row.number, row)
    return rows


def _decode(path: Path, number: int, line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError as exc:
        if number == 1:
            raise ReplayError(
                f"{path}: results of another command (such as `suzaku arena --differences`) or version "
                f"({exc}); choose another folder"
            ) from exc
        raise ReplayError(f"{path}: line {number}: {exc}; move the file away to start again") from exc


def _other_run(path: Path, series: P, found: P) -> str:
    """Describe how the run in the folder differs from the requested one, and what to do about it."""
    asked = series.flags
    differing = {flag: value for flag, value in found.flags.items() if asked[flag] != value}
    if found.continues(series):
        ((flag, count),) = differing.items()
        return (
            f"{path}: a run of {count} {flag[2:]} is there; give at least as many to resume it, or choose "
            "another --out"
        )
    if differing:
        differences = "; ".join(f"{flag} {value}, not {asked[flag]}" for flag, value in differing.items())
        return (
            f"{path}: another run is there, with {differences}; give the same flags to resume it, or choose "
            "another --out"
        )
    others = [name for name in series.__struct_fields__ if getattr(series, name) != getattr(found, name)]
    if {*others} <= _OF_PLAYERS:
        return f"{path}: the files of a player have changed since that run began; choose another --out"
    return f"{path}: another run is there, which differs in {', '.join(others)}; choose another --out"
