"""What commands are given as records: files, folders, links, bare ids of games on Tenhou, and stdin."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from bot.redaction import clean_text
from bot.tenhou.links import fetched, full_link, parse_link, viewed_seat
from game.errors import ReplayError, ReplayTooLarge
from game.jit import cache_folder
from replays.formats import MAX_FILE, SUFFIXES, Format, format_of, id_in_name, parse, read_file, read_game
from replays.index import INDEX_FILE
from replays.library import DECISIONS_SUFFIX, RECORD_SUFFIX, decisions_beside, record_file
from replays.record import GameRecord
from replays.tenhou6 import is_link

STDIN: Final = "-"

_FETCHED: Final = "logs"
_OWN_RESULT: Final = b'{"format":"suzaku-review'
"""How the JSON of a review or of an index begins."""
_BARE_ID: Final = re.compile(r"(?:log=)?([0-9]{10}gm-[0-9A-Za-z-]+(?:&[a-z]+=[0-9]*)*)")
_SEAT_IN_NAME: Final = re.compile(r"&tw=([0-3])(?![0-9])")
"""How Tenhou's client for Windows says in a file's name from where the game was seen."""
_SHOWN: Final = 100
"""Characters of a source that a message repeats: a link with the whole game in it is long."""


class Loaded(NamedTuple):
    """A record with where it is from.

    Attributes:
        record: the game.
        name: of its file, "link" or "stdin".
        source: the format it was in.
        seat: that the file's name, its link or its decisions are about, None where nothing says so.
    """

    record: GameRecord
    name: str
    source: Format
    seat: int | None


def full_source(source: str) -> str:
    """A source as `load` takes it: what means a game on Tenhou becomes a link, all else stays as it is.

    >>> full_source("2026010203gm-0009-0000-0123abcd&tw=2"), full_source("game.xml"), full_source("-")
    ('https://tenhou.net/0/?log=2026010203gm-0009-0000-0123abcd&tw=2', 'game.xml', '-')
    """
    link = full_link(source)
    if link is not None:
        return link
    bare = _BARE_ID.fullmatch(source.strip())
    return f"https://tenhou.net/0/?log={bare[1]}" if bare and not Path(source).exists() else source


def is_folder(source: str) -> bool:
    """Whether a full source is a folder.

    Raises:
        ReplayError: it is meant as a file or folder, and there is none.
    """
    if source == STDIN or "://" in source:
        return False
    path = Path(source)
    try:
        path.stat()
    except FileNotFoundError:
        raise ReplayError(f"{shown(source)}: there is no such file or folder") from None
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "no name that a file can have"
        raise ReplayError(f"{shown(source)}: cannot be read: {why}") from exc
    return path.is_dir()


def shown(source: str) -> str:
    """A source as messages name it.

    >>> shown("-"), shown("games/a.xml")
    ('stdin', 'games/a.xml')
    """
    return "stdin" if source == STDIN else source[:_SHOWN]


def load(source: str) -> Loaded:
    """A record from a full source; a game on Tenhou is fetched.

    Raises:
        ReplayError: it cannot be read or fetched.
    """
    if source == STDIN:
        data = sys.stdin.buffer.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise ReplayTooLarge(f"more than {MAX_FILE} bytes")
        return Loaded(parse(data), "stdin", format_of(data), None)
    if is_link(source):
        return Loaded(read_game(source), "link", "link", viewed_seat(source))
    link = parse_link(source)
    if link is not None:
        loaded = _of_file(fetched(link.game_id, cache_folder() / _FETCHED))
        return loaded._replace(seat=link.seat)
    if "://" in source:
        raise ReplayError("only links to games on tenhou.net are followed; save the record and name the file")
    return _of_file(Path(source))


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


def _of_file(path: Path) -> Loaded:
    if path.name.endswith(DECISIONS_SUFFIX):
        raise ReplayError(f"decisions, not a record; name {record_file(path).name}, which lies beside them")
    data = read_file(path)
    if data.startswith(_OWN_RESULT):
        raise ReplayError("a review, not a record; name the record it was made of")
    record = _with_decisions(parse(data, id_in_name(path.name)), path)
    named = _SEAT_IN_NAME.search(path.name)
    return Loaded(record, path.name, format_of(data), int(named[1]) if named else _only_seat(record))


def _only_seat(record: GameRecord) -> int | None:
    """Whose decisions lie beside the record, if they are one player's."""
    seats = {made.player for made in record.decisions}
    return seats.pop() if len(seats) == 1 else None


def _with_decisions(record: GameRecord, path: Path) -> GameRecord:
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
