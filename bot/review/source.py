"""What `suzaku review` is given: records from files, folders and links, and whose decisions are meant."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from bot.redaction import clean_text
from bot.tenhou.links import fetched, parse_link, viewed_seat
from game.errors import ReplayError
from game.jit import cache_folder
from replays.formats import SUFFIXES, detect, expand_gzip, read_file, read_game
from replays.index import INDEX_FILE
from replays.library import DECISIONS_SUFFIX, RECORD_SUFFIX, decisions_beside, record_file
from replays.record import GameRecord
from replays.review.report import known_hands
from replays.tenhou6 import is_link

if TYPE_CHECKING:
    from replays.review.report import Source

_FETCHED: Final = "logs"
_OWN_RESULT: Final = b'{"format":"suzaku-review'
"""How the JSON of a review or of an index begins."""


class NotThereError(ReplayError):
    """Nobody of that name plays in this game."""


class Wanted(NamedTuple):
    """Whose decisions, and what the reports hold.

    Attributes:
        seat: absolute, None if not said.
        player: a name or how it begins, "" if not said.
        beside: a seat to compare with, None for none.
        anonymous: leave out names, ids and dates.
    """

    seat: int | None = None
    player: str = ""
    beside: int | None = None
    anonymous: bool = False


class Loaded(NamedTuple):
    """A record with where it is from, and the seat that its link or its decisions are about."""

    record: GameRecord
    name: str
    source: Source
    seat: int | None


def load(source: str) -> Loaded:
    """A record from a file or a link; a link to Tenhou is fetched.

    Raises:
        ReplayError: it cannot be read or fetched.
    """
    if is_link(source):
        return Loaded(read_game(source), "link", "link", viewed_seat(source))
    link = parse_link(source)
    if link is not None:
        path = fetched(link.game_id, cache_folder() / _FETCHED)
        return Loaded(_of_file(path), path.name, "mjlog", link.seat)
    if "://" in source:
        raise ReplayError("only links to games on tenhou.net are followed; save the record and name the file")
    path = Path(source)
    record = _of_file(path)
    seats = {made.player for made in record.decisions}
    return Loaded(record, path.name, _format(path), seats.pop() if len(seats) == 1 else None)


def seat_of(loaded: Loaded, wanted: Wanted) -> tuple[int, str]:
    """Whose decisions are meant, and a word about it where it could as well be somebody else's.

    Raises:
        NotThereError: there is no such player.
        ReplayError: there is more than one.
    """
    record = loaded.record
    if wanted.seat is not None:
        return wanted.seat, ""
    if wanted.player:
        return _seat_named(record, wanted.player), ""
    if loaded.seat is not None:
        return loaded.seat, ""
    known = [player for player, shown in enumerate(known_hands(record)) if shown] or [0]
    if len(known) == 1:
        return known[0], ""
    names = ", ".join(f"{player} {clean_text(record.names[player]) or '?'}" for player in known)
    return known[0], f"reviewing seat {known[0]}; --seat or --player chooses another of {names}"


def records_in(folder: Path) -> Iterator[Path]:
    """Files whose names say that they are records, by name; what lies beside them is none.

    Raises:
        ReplayError: the folder cannot be looked into.
    """
    try:
        found = sorted(folder.iterdir())
    except OSError as exc:
        raise ReplayError(f"{folder}: cannot be looked into: {exc.strerror}") from exc
    for path in found:
        suffix = Path(path.name.removesuffix(".gz")).suffix
        beside = path.name == INDEX_FILE or path.name.endswith(DECISIONS_SUFFIX)
        if suffix in SUFFIXES and not beside and not path.is_dir() and not _is_result(path):
            yield path


def _of_file(path: Path) -> GameRecord:
    if path.name.endswith(DECISIONS_SUFFIX):
        raise ReplayError(f"decisions, not a record; review {record_file(path).name}, which lies beside them")
    if _is_result(path):
        raise ReplayError("a review, not a record; name the record it was made of")
    record = read_game(path)
    if not path.name.endswith(RECORD_SUFFIX):
        return record
    try:
        return msgspec.structs.replace(record, decisions=decisions_beside(path))
    except ReplayError as exc:
        sys.stderr.write(f"note: {clean_text(str(exc))}; what happened in play is left out\n")
        return record


def _is_result(path: Path) -> bool:
    try:
        return path.suffix == ".json" and read_file(path).startswith(_OWN_RESULT)
    except ReplayError:
        return False


def _format(path: Path) -> Source:
    data = read_file(path)
    return detect((expand_gzip(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8"))


def _seat_named(record: GameRecord, wanted: str) -> int:
    exact = [player for player, name in enumerate(record.names) if name == wanted]
    fitting = exact or [player for player, name in enumerate(record.names) if name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(clean_text(name) or "?" for name in record.names)
    if not fitting:
        raise NotThereError(f"nobody is called {clean_text(wanted)!r}; the players are {names}")
    raise ReplayError(f"more than one is called {clean_text(wanted)!r}: {names}; --seat says which")
