"""The index of the library: one entry per game with date, players and places, without reading every game.

The index is a file beside the games. It is only a cache: changed files are read again, and without the index,
or with a broken one, all files are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import msgspec
import structlog

from game.events import Four
from game.scoring.settlement import placements
from kit.errors import ReplayError
from kit.files import replace_file
from kit.options import Day
from replays.files import BROKEN_JSON, RECORD_SUFFIX, decisions_file, read_file
from replays.record import JAPAN, Names, check_game_id, shown_time, started

INDEX_FILE: Final = "index.json"
MAX_INDEX: Final = 64 * 1024 * 1024

_VERSION: Final = 3
_LONGEST_LINE: Final = 1 << 16
_LINES_TRIED: Final = 16
"""Lines to try in an older decisions file, whose first lines may be damaged."""

_log = structlog.get_logger(__name__)
_Player = Annotated[int, msgspec.Meta(ge=-1, le=3)]


class GameEntry(msgspec.Struct, frozen=True):
    """One game in the library.

    Attributes:
        game_id: also the name of its file.
        date: in Japan, ``2026-01-02 03:47 JST``: when its record was saved; if that is no time at which it
            can have ended, the hour in its id.
        game_type: Tenhou's type bits.
        lobby: number of the lobby.
        names: names of the players, absolute.
        player: our seat: that of the decisions beside it, else of the only person among computers; -1 if
            neither tells one.
        is_person: whether our seat is that person's.
        rounds: number of rounds dealt.
        scores: final points by player, None for a game that was cut short.
        results: final results in tenths, including uma and oka.
        places: places by player.
        is_complete: whether all hands are known, not only ours.
    """

    game_id: str
    date: str
    game_type: int
    lobby: int
    names: Names
    player: _Player
    is_person: bool
    rounds: int
    scores: Four | None
    results: Four | None
    places: Four | None
    is_complete: bool

    @property
    def opponents(self) -> tuple[str, ...]:
        """The other players' names in turn order after us; all four if our seat is unknown."""
        if self.player < 0:
            return self.names
        return tuple(self.names[(self.player + turn) % 4] for turn in (1, 2, 3))

    @property
    def placement(self) -> int | None:
        """Our place, None if it is unknown."""
        return None if self.player < 0 or self.places is None else self.places[self.player]

    def seen_by(self, name: str) -> GameEntry:
        """The entry from the view of the player with that name."""
        return msgspec.structs.replace(self, player=self.names.index(name), is_person=False)


class _DecisionLine(msgspec.Struct):
    player: _Player


class _IndexedGame(msgspec.Struct):
    """An entry, and the state of its files: size and time of the record, and of the decisions."""

    files: tuple[int, int, int, int]
    entry: GameEntry


class _Index(msgspec.Struct):
    version: int
    games: dict[str, _IndexedGame]


def games(folder: Path) -> tuple[list[GameEntry], list[str]]:
    """All games of a library in the order of play, and the problems of those that cannot be read.

    Raises:
        ReplayError: the folder cannot be listed.
    """
    known = _load(folder / INDEX_FILE)
    found: dict[str, _IndexedGame] = {}
    problems = []
    for path in _records(folder):
        try:
            files = _stamp(path)
            entry = known.get(path.name)
            if entry is None or entry.files != files:
                entry = _read(path, files)
            found[path.name] = entry
        except (ReplayError, OSError) as exc:
            problems.append(f"{path.name}: {exc}")
    if found != known:
        _save(folder / INDEX_FILE, found)
    # An id has the hour of a game; within it, the games come in the order in which they were saved.
    in_order = sorted(found.values(), key=lambda each: (each.entry.date, each.files[1], each.entry.game_id))
    return [each.entry for each in in_order], problems


class GameChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which games of a library to list.

    Attributes:
        player: only games of the player with exactly this name, seen from their seat.
        since: only games from this day on, Japan time (2026-01-31).
        until: only games up to and including this day.
        placement: only games with this final place.
    """

    player: str = ""
    since: Day | None = None
    until: Day | None = None
    placement: Annotated[int, msgspec.Meta(ge=1, le=4)] | None = None

    def of(self, entries: Iterable[GameEntry]) -> Iterator[GameEntry]:
        """The games that match, from that player's view."""
        for entry in entries:
            if self.player and self.player not in entry.names:
                continue
            seen = entry.seen_by(self.player) if self.player else entry
            since = "" if self.since is None else self.since.isoformat()
            until = seen.date if self.until is None else self.until.isoformat()
            on_time = since <= seen.date[:10] <= until
            if on_time and self.placement in (None, seen.placement):
                yield seen


def _records(folder: Path) -> list[Path]:
    try:
        names = sorted(path.name for path in folder.iterdir() if path.name.endswith(RECORD_SUFFIX))
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise ReplayError(f"{folder}: cannot be listed: {exc.strerror}") from exc
    return [folder / name for name in names]


def _stamp(path: Path) -> tuple[int, int, int, int]:
    record = path.stat(follow_symlinks=False)
    size = newest = 0
    for player in (None, *range(4)):
        with contextlib.suppress(FileNotFoundError):
            decisions = decisions_file(path, player).stat(follow_symlinks=False)
            size, newest = size + decisions.st_size, max(newest, decisions.st_mtime_ns)
    return record.st_size, record.st_mtime_ns, size, newest


def _read(path: Path, files: tuple[int, int, int, int]) -> _IndexedGame:
    from replays.formats import read_game  # noqa: PLC0415 - NumPy and the fold are for games that are new

    if path.is_symlink():
        raise ReplayError("a link; links are not followed")
    game_id = check_game_id(path.name.removesuffix(RECORD_SUFFIX))
    try:
        deciding = _our_seat(path)
    except OSError:  # the game is intact; its decisions are tried again next time
        deciding, files = -1, (*files[:2], -1, -1)
    record = read_game(path)
    player = record.own_player if deciding is None else deciding
    ending = record.ending
    entry = GameEntry(
        game_id=game_id,
        date=_date(game_id, files[1]),
        game_type=record.game_type,
        lobby=record.lobby,
        names=record.names,
        player=-1 if player is None else player,
        is_person=deciding is None and player is not None,
        rounds=record.rounds,
        scores=ending.scores if ending else None,
        results=ending.results if ending else None,
        places=placements(ending.scores) if ending else None,
        is_complete=record.is_complete,
    )
    return _IndexedGame(files, entry)


def _date(game_id: str, saved_ns: int) -> str:
    """When a game was saved, if that was within a day of the hour in its id; else that hour."""
    began, saved = started(game_id), shown_time(datetime.fromtimestamp(saved_ns / 1e9, JAPAN))
    if not began or not timedelta() <= _moment(saved) - _moment(began) < timedelta(days=1):
        return began
    return saved


def _moment(date: str) -> datetime:
    return datetime.fromisoformat(date.removesuffix(" JST"))


def _our_seat(record: Path) -> int | None:
    """The deciding seat; None without decisions beside the record, -1 with those of several seats.

    Raises:
        OSError: the decisions file of an older game cannot be read.
    """
    seats = {player for player in range(4) if _is_file(decisions_file(record, player))}
    older = decisions_file(record)
    if _is_file(older):
        seats |= _seat_of(older)
    if not seats:
        return None
    return seats.pop() if len(seats) == 1 else -1


def _seat_of(older: Path) -> set[int]:
    """The deciding seat, from the first readable line of a file."""
    with older.open("rb") as file:
        for _ in range(_LINES_TRIED):
            with contextlib.suppress(*BROKEN_JSON):
                return {msgspec.json.decode(file.readline(_LONGEST_LINE), type=_DecisionLine).player}
    return set()


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _load(path: Path) -> dict[str, _IndexedGame]:
    if not path.exists() or path.is_symlink():
        return {}
    try:
        index = msgspec.json.decode(read_file(path, MAX_INDEX), type=_Index)
    except (ReplayError, *BROKEN_JSON) as exc:
        _log.warning("index.unreadable", path=str(path), reason=str(exc), remedy="the index is rebuilt")
        return {}
    return index.games if index.version == _VERSION else {}


def _save(path: Path, found: dict[str, _IndexedGame]) -> None:
    try:
        replace_file(path, msgspec.json.encode(_Index(_VERSION, found)))
    except OSError as exc:
        _log.warning("index.unsaved", path=str(path), reason=exc.strerror or str(exc))
