"""The library of finished games: one mjlog file each, and beside it the decisions of each of our seats.

A file is written whole or not at all, and a file with other contents is never replaced. A full or read-only
disk costs no game. Records wait in memory, up to a cap, and are tried again with the next one and at the end;
what still cannot be written then goes to another folder.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog

from game.events import Draw, GameEvent, StartGame, StartRound, four
from game.tiles import UNSEEN
from kit.errors import ReplayError, ReplayFormatError
from kit.files import locked_folder, replace_file
from replays.files import BROKEN_JSON, RECORD_SUFFIX, decisions_file, read_file
from replays.formats import read_game
from replays.mjlog.reader import read_record
from replays.mjlog.writer import write
from replays.record import DecisionRecord, GameRecord, check_game_id

DEFAULT_FOLDER: Final = Path("replays/games")
CONFLICTS: Final = "conflicts"
"""Folder in the library for files whose names were taken by files with other contents."""
MAX_DECISIONS: Final = 32 * 1024 * 1024
"""Bytes; those of a long game are a few hundred kilobytes."""
KEPT_IN_MEMORY: Final = 32
"""A record takes a few hundred kilobytes of memory."""

_log = structlog.get_logger(__name__)


def decisions_beside(record: Path) -> tuple[DecisionRecord, ...]:
    """All decisions beside a record, seat by seat, each in order.

    Raises:
        ReplayFormatError: a line is not a decision.
        ReplayTooLarge: a file is larger than the decisions of any game.
        ReplayError: a file cannot be read, or is a link.
    """
    found, problems = readable_beside(record)
    if problems:
        raise ReplayFormatError(problems[0])
    return found


def readable_beside(record: Path) -> tuple[tuple[DecisionRecord, ...], tuple[str, ...]]:
    """Like `decisions_beside` for files that may be damaged; also returns the problems of damaged lines.

    Raises:
        ReplayTooLarge: a file is larger than the decisions of any game.
        ReplayError: a file cannot be read, or is a link.
    """
    seats = [_readable(decisions_file(record, player)) for player in range(4)]
    told = {made.player for found, _ in seats for made in found}
    older, older_problems = _readable(decisions_file(record))
    found = [made for found, _ in seats for made in found]
    found += [made for made in older if made.player not in told]
    problems = [problem for _, those in seats for problem in those]
    return tuple(sorted(found, key=lambda made: made.player)), (*problems, *older_problems)


def _readable(path: Path) -> tuple[list[DecisionRecord], list[str]]:
    if path.is_symlink():
        raise ReplayError(f"{path}: a link; links are not followed")
    if not path.exists():
        return [], []
    found, problems = [], []
    for number, line in enumerate(read_file(path, MAX_DECISIONS).splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=DecisionRecord))
        except BROKEN_JSON as exc:
            problems.append(f"{path}: line {number}: {exc}")
    return found, problems


def save(record: GameRecord, folder: Path) -> Path:
    """Write a game under its id, and the decisions of its seats beside it.

    Views of one game are merged: a seat's own, which includes the decisions, those of other seats, and the
    lobby's full record can come in any order. A file with any other contents is kept, and ours goes to
    `CONFLICTS`.

    Args:
        record: the game; its decisions, if any, go to one file per seat beside it.
        folder: created if missing.

    Returns:
        The path of the mjlog file.

    Raises:
        ReplayFormatError: the id is not a game id, or the events do not form a game.
        ReplayError: the path would leave the folder, or one of its files is a link.
        OSError: the disk refuses the write.
    """
    path = save_record(record, folder)
    save_decisions(record, folder)
    return path


def save_record(record: GameRecord, folder: Path) -> Path:
    """Write the game alone, as `save` does."""
    name = check_game_id(record.game_id) + RECORD_SUFFIX
    text = write(record)
    folder.mkdir(parents=True, exist_ok=True)
    path = _inside(folder, name)
    with locked_folder(folder):
        if path.exists():
            return _join_record(record, text, path)
        replace_file(path, text.encode())
    return path


def save_decisions(record: GameRecord, folder: Path) -> None:
    """Write the decisions alone, as `save` does."""
    made_by: dict[int, list[DecisionRecord]] = {}
    for made in record.decisions:
        made_by.setdefault(made.player, []).append(made)
    game = folder / (check_game_id(record.game_id) + RECORD_SUFFIX)
    for player, decisions in made_by.items():
        lines = b"".join(msgspec.json.encode(decision) + b"\n" for decision in decisions)
        path = _inside(folder, decisions_file(game, player).name)
        with locked_folder(folder):
            if not path.exists():
                replace_file(path, lines)
            elif path.read_bytes() != lines:
                _set_aside(path, lines)


def _join_record(record: GameRecord, text: str, path: Path) -> Path:
    """Save a game whose name is taken, by another view of it or by a different file."""
    try:
        there = read_game(path)
        ours = read_record(text, record.game_id)  # as after writing and reading it
    except ReplayError:
        return _set_aside(path, text.encode())
    events = joined(there.events, ours.events)
    if events is not None:
        if events != there.events:
            fuller = record if record.is_complete else msgspec.structs.replace(there, events=events)
            replace_file(path, write(fuller).encode())
        return path
    # a seat whose connection broke missed some of what the lobby saw
    if _is_same_game(there, ours) and there.is_complete != ours.is_complete:
        if ours.is_complete:
            replace_file(path, text.encode())
        return path
    return _set_aside(path, text.encode())


def _is_same_game(one: GameRecord, other: GameRecord) -> bool:
    endings = {record.ending for record in (one, other)} - {None}
    return one.names == other.names and one.game_type == other.game_type and len(endings) < 2


def _set_aside(taken: Path, data: bytes) -> Path:
    """Write a file whose name is taken to a separate folder; the same contents get the same name."""
    folder = _inside(taken.parent, CONFLICTS)
    folder.mkdir(exist_ok=True)
    path = _inside(folder, f"{hashlib.sha256(data).hexdigest()[:8]}-{taken.name}")
    replace_file(path, data)
    _log.warning(
        "record.conflict", path=str(taken), written=str(path), reason="the name is taken by other contents"
    )
    return path


class Closing(msgspec.Struct, frozen=True):
    """Result of the last attempt.

    Attributes:
        rescued: files of games that had to go to another folder.
        lost: ids of games that could not be written anywhere, or not completely.
        reason: the last disk error, empty if there was none.
    """

    rescued: tuple[Path, ...] = ()
    lost: tuple[str, ...] = ()
    reason: str = ""


class _PendingGame(msgspec.Struct):
    """A game not completely on disk: the path of its record, once written, and the last disk error."""

    record: GameRecord
    path: Path | None = None
    refused: str = ""

    def save(self, folder: Path) -> None:
        """Write the missing files, the record first."""
        if self.path is None:
            self.path = save_record(self.record, folder)
        save_decisions(self.record, folder)


class Library:
    """Saves games to one folder; games that the disk refuses are kept and tried again.

    Args:
        folder: folder of the library.
        kept_in_memory: maximum number of games waiting for the disk; beyond it the oldest goes to another
            folder at once.
        others: returns the fallback folders, in order of preference.
    """

    def __init__(
        self,
        folder: Path = DEFAULT_FOLDER,
        kept_in_memory: int = KEPT_IN_MEMORY,
        others: Callable[[], Iterable[Path]] = tuple,
    ) -> None:
        self.folder = folder
        self.late: dict[str, Path] = {}
        """Paths of records that could not be written at first, by id."""
        self._waiting: deque[_PendingGame] = deque()
        self._cap = kept_in_memory
        self._others = others
        self._rescued: list[Path] = []
        self._lost: list[str] = []
        self._reason = ""

    @property
    def waiting(self) -> int:
        """Number of games not completely on disk."""
        return len(self._waiting)

    def keep(self, record: GameRecord) -> Path | None:
        """Save a game, and those that could not be saved before it; never raises.

        Returns:
            Path of the record, None if it is only in memory, or cannot be written at all.
        """
        game = _PendingGame(record)
        self._waiting.append(game)
        self._try_all()
        if self._waiting:
            self._hold()
        return game.path

    def close(self) -> Closing:
        """Try one last time, here and then elsewhere; nothing waits afterwards."""
        self._try_all()
        while self._waiting:
            self._rescue(self._waiting.popleft())
        # several views of one game may have waited
        rescued, lost = tuple(dict.fromkeys(self._rescued)), tuple(dict.fromkeys(self._lost))
        closing = Closing(rescued, lost, self._reason)
        if closing.rescued or closing.lost:
            _log.error(
                "record.unsaved",
                folder=str(self.folder),
                reason=closing.reason,
                rescued=[str(path) for path in closing.rescued],
                lost=closing.lost,
            )
        return closing

    def _try_all(self) -> None:
        """Try each waiting game, regardless of the others' fate."""
        for game in tuple(self._waiting):
            try:
                game.save(self.folder)
            except OSError as exc:
                game.refused = exc.strerror or str(exc)
                continue
            except ReplayError as exc:
                _log.error("record.rejected", game_id=game.record.game_id[:40], reason=str(exc))
                self._lost.append(game.record.game_id)
                self._reason = str(exc)
            self._waiting.remove(game)
            if game.refused and game.path is not None:
                self.late[game.record.game_id] = game.path

    def _hold(self) -> None:
        _log.warning(
            "record.unsaved",
            folder=str(self.folder),
            reason=self._waiting[-1].refused,
            in_memory=len(self._waiting),
            remedy="make room in the folder or make it writable; records are tried again after each game",
        )
        while len(self._waiting) > self._cap:
            self._rescue(self._waiting.popleft())

    def _rescue(self, game: _PendingGame) -> None:
        """Save a game elsewhere; if no folder accepts it, it is lost."""
        self._reason = game.refused
        for folder in self._others():
            try:
                path = save(game.record, folder)
            except (OSError, ReplayError) as exc:
                _log.warning("record.unsaved", folder=str(folder), reason=str(exc))
                continue
            self._rescued.append(path)
            self.late[game.record.game_id] = game.path or path
            return
        self._lost.append(game.record.game_id)


def _inside(folder: Path, name: str) -> Path:
    root = folder.resolve()
    path = root / name
    if path.parent != root or path.is_symlink():
        raise ReplayError(f"{name!r} is a link or leaves {folder}; remove it or choose another folder")
    return path


def joined(one: Sequence[GameEvent], other: Sequence[GameEvent]) -> tuple[GameEvent, ...] | None:
    """The combined information of two views of a game, None if they are not views of the same game.

    >>> joined([Draw(0, 5), Draw(1)], [Draw(0), Draw(1, 9)])
    (Draw(player=0, tile=5), Draw(player=1, tile=9))
    >>> joined([Draw(0, 5)], [Draw(0, 6)]) is None
    True
    """
    if len(one) != len(other):
        return None
    both = []
    for left, right in zip(one, other, strict=True):
        event = _both(left, right)
        if event is None:
            return None
        both.append(event)
    return tuple(both)


def _both(left: GameEvent, right: GameEvent) -> GameEvent | None:
    if left == right:
        return left
    if isinstance(left, StartGame) and isinstance(right, StartGame):
        return StartGame(left.names) if left.names == right.names else None
    if isinstance(left, Draw) and isinstance(right, Draw):
        seen = right if left.tile == UNSEEN else left
        return seen if left.player == right.player and UNSEEN in (left.tile, right.tile) else None
    if isinstance(left, StartRound) and isinstance(right, StartRound):
        views = zip(left.hands, right.hands, strict=True)
        found = msgspec.structs.replace(
            left, hands=four(theirs if UNSEEN in ours else ours for ours, theirs in views)
        )
        return found if _shows_no_other(right, found) else None
    return None


def _shows_no_other(view: StartRound, found: StartRound) -> bool:
    """Whether a view of a deal shows nothing other than what was found."""
    hands = zip(view.hands, found.hands, strict=True)
    return all(UNSEEN in seen or seen == hand for seen, hand in hands) and view == msgspec.structs.replace(
        found, hands=view.hands
    )
