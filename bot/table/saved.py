"""Games saved while they are played, so that a program that was killed can continue them.

A file has a line for the start of the game and one for each move, each after its checksum, written before
anybody is told of the move. It exists until the game's record is in the library.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, BinaryIO, Final, TypeAlias

import msgspec
import structlog
from msgspec import Meta

from bot.play.lock import lock_file
from bot.table.plan import TableSetup
from bot.tenhou.lobby.tabletop import Move
from game.events import EndRound
from kit.distribution import program_name
from kit.errors import ConfigError

FORMAT: Final = "suzaku-table/1"
ENDING: Final = ".game"

log = structlog.get_logger(__name__)


class GameStart(msgspec.Struct, frozen=True, tag="start", kw_only=True):
    """How a game began.

    Attributes:
        setup: of the table.
        seed: of the table's games.
        number: of the game at the table, from 1.
        game_id: of its record.
        program: that played it.
        format: of the file.
    """

    setup: TableSetup
    seed: Annotated[int, Meta(ge=0)]
    number: Annotated[int, Meta(ge=1)]
    game_id: str
    program: str = msgspec.field(default_factory=program_name)
    format: str = FORMAT


class TakenBack(msgspec.Struct, frozen=True, tag="back"):
    """The game was taken back to where it had only this many moves."""

    moves: Annotated[int, Meta(ge=0)]


Entry: TypeAlias = GameStart | Move | TakenBack

_ENTRY: Final = msgspec.json.Decoder[Entry](Entry)


class SavedGame(msgspec.Struct, frozen=True):
    """A game read from its file.

    Attributes:
        path: the file.
        start: how it began.
        moves: since then.
        size: bytes of the file that are complete.
    """

    path: Path
    start: GameStart
    moves: tuple[Move, ...]
    size: int

    def unusable(self, reason: object) -> ConfigError:
        """The error for a game that cannot be played again."""
        return ConfigError(
            f"{self.path}: {self.start.program} saved this game, and {program_name()} cannot continue it "
            f"({reason}); delete the file to drop the game"
        )


class GameFile:
    """The file of a running game. If the disk fails, the game goes on without it."""

    def __init__(self, path: Path, file: BinaryIO, lock: contextlib.ExitStack) -> None:
        self._path = path
        self._file = file
        self._lock = lock
        self.complete = True

    def write(self, entry: Entry) -> None:
        """Append an entry; the start and the ends of rounds survive a power loss, too."""
        if not self.complete:
            return
        body = msgspec.json.encode(entry)
        try:
            self._file.write(b"%08x %s\n" % (zlib.crc32(body), body))
            self._file.flush()
            if isinstance(entry, GameStart) or (
                isinstance(entry, Move) and any(isinstance(event, EndRound) for event in entry.events)
            ):
                os.fsync(self._file.fileno())
        except OSError as exc:
            self.complete = False
            log.warning(
                "table.unsaved", reason=exc.strerror, until="the end of the game; it cannot be resumed"
            )

    def close(self, *, remove: bool = False) -> None:
        """Release the file; with ``remove``, delete it, because the game's record is kept."""
        with contextlib.suppress(OSError):
            self._file.close()
        if remove:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
                _lock_of(self._path).unlink(missing_ok=True)
        self._lock.close()


class SavedGames:
    """The folder of the games' files; a file is locked while its game is running.

    Args:
        folder: created when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, start: GameStart) -> GameFile | None:
        """The file of a new game; None if it cannot be written."""
        path = self._folder / f"{start.game_id}{ENDING}"
        try:
            file = self._open(path)
        except ConfigError as exc:
            log.warning("table.unsaved", reason=str(exc), until="the end of the game; it cannot be resumed")
            return None
        file.write(start)
        return file

    def unfinished(self) -> list[Path]:
        """The files of games that are not running, the latest first."""
        with contextlib.suppress(OSError):
            paths = [path for path in self._folder.glob(f"*{ENDING}") if not _in_use(path)]
            return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)
        return []

    def notice(self) -> str:
        """A sentence about the unfinished games; "" if there are none."""
        paths = self.unfinished()
        if not paths:
            return ""
        when = datetime.fromtimestamp(paths[0].stat().st_mtime).astimezone()
        which = "An unfinished game" if len(paths) == 1 else f"The latest of {len(paths)} unfinished games"
        return (
            f"{which}, of {when:%Y-%m-%d %H:%M}, is kept: `suzaku table --resume` continues it; "
            f"to drop it, delete {paths[0]}."
        )

    def latest(self) -> SavedGame:
        """The latest unfinished game.

        Raises:
            ConfigError: there is none, or it cannot be read.
        """
        paths = self.unfinished()
        if not paths:
            raise ConfigError("--resume: there is no unfinished game; `suzaku table` begins one")
        return _read(paths[0])

    def reopen(self, saved: SavedGame) -> GameFile:
        """The file of a game that is continued, without an entry that was cut.

        Raises:
            ConfigError: it cannot be written, or another program continues the game.
        """
        return self._open(saved.path, saved.size)

    def _open(self, path: Path, size: int | None = None) -> GameFile:
        lock = contextlib.ExitStack()
        busy = f"{path}: another `suzaku table` is playing this game; use its page, or stop it first"
        lock.enter_context(lock_file(_lock_of(path), busy))
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            if size is not None:
                os.truncate(handle, size)
        except OSError as exc:
            lock.close()
            raise ConfigError(f"{path}: {exc.strerror}; make it writable") from exc
        return GameFile(path, os.fdopen(handle, "wb"), lock)


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def _in_use(path: Path) -> bool:
    try:
        with lock_file(_lock_of(path)):
            return False
    except ConfigError:
        return True


def _read(path: Path) -> SavedGame:
    """Read a game's file; its last entry may be cut.

    Raises:
        ConfigError: it cannot be read, is damaged, or was written by another version.
    """
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise ConfigError(f"{path}: {exc.strerror}") from exc
    lines = data.splitlines(keepends=True)
    entries: list[Entry] = []
    size = 0
    for number, line in enumerate(lines, start=1):
        entry = _entry(line)
        if entry is None and number == len(lines) > 1:
            break
        if entry is None or isinstance(entry, GameStart) != (number == 1):
            raise ConfigError(
                f"{path}: line {number} of this unfinished game is damaged or of another version of Suzaku; "
                "delete the file to drop the game"
            )
        entries.append(entry)
        size += len(line)
    if not entries or not isinstance(entries[0], GameStart):
        raise ConfigError(f"{path}: this unfinished game is empty; delete the file to drop it")
    return SavedGame(path, entries[0], tuple(_moves(entries[1:])), size)


def _entry(line: bytes) -> Entry | None:
    """The entry of a line, None if it is damaged."""
    check, _, body = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or check != b"%08x" % zlib.crc32(body):
        return None
    try:
        entry = _ENTRY.decode(body)
    except msgspec.MsgspecError:
        return None
    return None if isinstance(entry, GameStart) and entry.format != FORMAT else entry


def _moves(entries: list[Entry]) -> Iterator[Move]:
    moves: list[Move] = []
    for entry in entries:
        match entry:
            case Move():
                moves.append(entry)
            case TakenBack(count):
                del moves[count:]
    return iter(moves)
