"""Where finished games are kept: one mjlog file each, and beside it a file of the decisions made.

A file appears whole or not at all. A full or read-only disk costs no game: records wait in memory, up to a
cap, and are tried again with the next one.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Final

import msgspec
import structlog

from game.errors import ReplayError, ReplayFormatError
from game.files import replace_file
from replays.formats import read_file
from replays.mjlog import write
from replays.record import DecisionRecord, GameRecord, check_game_id

DEFAULT_FOLDER: Final = Path("replays/games")
RECORD_SUFFIX: Final = ".mjlog.xml"
DECISIONS_SUFFIX: Final = ".decisions.jsonl"
MAX_DECISIONS: Final = 32 * 1024 * 1024
"""Bytes; those of a long game are some hundred kilobytes."""
KEPT_IN_MEMORY: Final = 32
"""A record is some hundred kilobytes in memory."""

_log = structlog.get_logger(__name__)


def read_decisions(path: Path) -> tuple[DecisionRecord, ...]:
    """The decisions that lie beside a record; none if there is no such file.

    Raises:
        ReplayFormatError: a line of it is no decision.
        ReplayTooLarge: it is larger than the decisions of any game.
        ReplayError: it cannot be read, or is a link.
    """
    found, problems = readable_decisions(path)
    if problems:
        raise ReplayFormatError(f"{path}: {problems[0]}")
    return found


def readable_decisions(path: Path) -> tuple[tuple[DecisionRecord, ...], tuple[str, ...]]:
    """The decisions of a file that may be damaged, and what is wrong with the lines that hold none.

    Raises:
        ReplayTooLarge: it is larger than the decisions of any game.
        ReplayError: it cannot be read, or is a link.
    """
    if path.is_symlink():
        raise ReplayError(f"{path}: a link; links are not followed")
    if not path.exists():
        return (), ()
    found, problems = [], []
    for number, line in enumerate(read_file(path, MAX_DECISIONS).splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=DecisionRecord))
        except msgspec.MsgspecError as exc:
            problems.append(f"line {number}: {exc}")
    return tuple(found), tuple(problems)


def save(record: GameRecord, folder: Path) -> Path:
    """Write a game under its id; one already there is replaced, unless it knows hands that this one does not.

    So a seat's own view, which brings the decisions, and the lobby's full record can come in any order.

    Args:
        record: the game; its decisions, if any, go to a file of their own beside it.
        folder: made if it is missing.

    Returns:
        The path of the mjlog file.

    Raises:
        ReplayFormatError: the id is no game id, or the events are no game.
        ReplayError: the path would leave the folder, or one of its files is a link.
        OSError: the disk does not take it.
    """
    name = check_game_id(record.game_id)
    text = write(record)
    folder.mkdir(parents=True, exist_ok=True)
    if record.decisions:
        lines = b"".join(msgspec.json.encode(decision) + b"\n" for decision in record.decisions)
        replace_file(_inside(folder, name + DECISIONS_SUFFIX), lines)
    path = _inside(folder, name + RECORD_SUFFIX)
    if record.is_complete or not path.exists():
        replace_file(path, text.encode())
    return path


class Library:
    """Saves games to one folder; what the disk refuses it keeps and tries again."""

    def __init__(self, folder: Path = DEFAULT_FOLDER, kept_in_memory: int = KEPT_IN_MEMORY) -> None:
        self.folder = folder
        self._waiting: deque[GameRecord] = deque()
        self._cap = kept_in_memory

    @property
    def waiting(self) -> int:
        """How many records are only in memory."""
        return len(self._waiting)

    def keep(self, record: GameRecord) -> Path | None:
        """Save a game, and those that could not be saved before it; never raises.

        Returns:
            Where the game lies, None if it is only in memory, or cannot be written at all.
        """
        self._waiting.append(record)
        path = None
        while self._waiting:
            try:
                path = save(self._waiting[0], self.folder)
            except ReplayError as exc:
                _log.error("record.rejected", game_id=self._waiting[0].game_id[:40], reason=str(exc))
                path = None
            except OSError as exc:
                self._hold(exc)
                return None
            self._waiting.popleft()
        return path

    def _hold(self, exc: OSError) -> None:
        dropped = ""
        if len(self._waiting) > self._cap:
            dropped = self._waiting.popleft().game_id
        _log.warning(
            "record.unsaved",
            folder=str(self.folder),
            reason=exc.strerror or str(exc),
            in_memory=len(self._waiting),
            dropped=dropped,
            remedy="make room in the folder or make it writable; records are tried again after the next game",
        )


def _inside(folder: Path, name: str) -> Path:
    root = folder.resolve()
    path = root / name
    if path.parent != root or path.is_symlink():
        raise ReplayError(f"{name!r} is a link or leaves {folder}; remove it or choose another folder")
    return path
