"""Sources of records that commands accept: files, folders, links and ids of games on Tenhou, and stdin."""

from __future__ import annotations

import difflib
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import msgspec

from bot.logs.redaction import clean_text
from bot.tenhou.links import fetched, full_link, parse_link, viewed_player
from game.events import StartRound, four
from game.state import apply_all, new_round
from kit.cache import cache_folder
from kit.errors import ReplayError, ReplayTooLarge, StateMismatchError
from replays.files import DECISIONS_SUFFIX, RECORD_SUFFIX, read_file, record_file
from replays.formats import MAX_FILE, SUFFIXES, SourceFormat, format_of, id_in_name, parse, read_game
from replays.record import GameRecord
from replays.store.index import INDEX_FILE
from replays.store.library import decisions_beside
from replays.tenhou6.reader import is_link

STDIN: Final = "-"

MAX_LINKS: Final = 1024 * 1024
"""Bytes of a file of links."""
_ROUND_SIZE: Final = 64 * 1024
"""Bytes of a file that may hold a single round."""
_FETCHED: Final = "logs"
_OWN_RESULT: Final = b'{"format":"suzaku-review'
"""Start of the JSON of a review or an index."""
_BARE_ID: Final = re.compile(r"(?:log=)?([0-9]{10}gm-[0-9a-z-]+(?:&[a-z]+=[0-9]*)*)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_PLAYER_IN_NAME: Final = re.compile(r"&tw=([0-3])(?![0-9])")
"""The viewing player in file names written by Tenhou's Windows client."""
_SHOWN: Final = 100
"""Characters of a source that a message repeats; a link that contains the whole game is long."""


_NAMED: Final = 8
"""Players that a message names."""


class MissingSourceError(ReplayError):
    """A source names no file or folder."""


class LoadedRecord(NamedTuple):
    """A record and its source.

    Attributes:
        record: the game.
        name: name of the file, or "link" or "stdin".
        source: the format it was read from.
        player: absolute; given by the file name, the link or the record, None if none of them gives one.
    """

    record: GameRecord
    name: str
    source: SourceFormat
    player: int | None


def full_source(source: str) -> str:
    """A source as `load` takes it: the id or a short link of a game on Tenhou becomes a full link.

    >>> full_source("2026010203gm-0009-0000-0123abcd&tw=2"), full_source("game.xml"), full_source("-")
    ('https://tenhou.net/0/?log=2026010203gm-0009-0000-0123abcd&tw=2', 'game.xml', '-')
    """
    link = full_link(source)
    if link is not None:
        return link
    bare = _BARE_ID.fullmatch(source.strip())
    return f"https://tenhou.net/0/?log={bare[1]}" if bare and not Path(source).exists() else source


def listed(source: str) -> list[str]:
    """The full sources that a full source stands for: those in a file of links and ids, else itself.

    Raises:
        ReplayError: a line among links is none.
    """
    try:
        if source == STDIN:
            data = _read_once(sys.stdin)
        else:
            data = read_file(Path(source), MAX_LINKS) if "://" not in source else b""
    except (ReplayError, OSError):
        return [source]
    sources, bad = [], ""
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        each = full_source(line.strip())
        if _ADDRESS.fullmatch(each):
            sources.append(each)
        elif each and not each.startswith("#"):
            bad = bad or f"line {number} is neither a link nor an id: {each[:_SHOWN]}"
    if all(map(is_link, sources)):  # those of one game, or none
        return [source]
    if bad and b"<" not in data:  # an mjlog may have notes with links
        raise ReplayError(f"{shown(source)}: {bad}")
    return [source] if bad else sources


def joined(sources: Sequence[str]) -> list[str]:
    """The sources; files that hold a round each of one game become one, in their order of play."""
    parts = []
    for source in sources:
        with suppress(ReplayError, StateMismatchError):
            record = parse(read_file(Path(source), _ROUND_SIZE))
            if record.rounds == 1 and any(record.names):
                start = next(event for event in record.events if isinstance(event, StartRound))
                state = new_round()
                apply_all(state, record.events)
                after = None if record.ending else four(state["scores"].tolist())
                parts.append((record.names, start.round_index, start.honba, source, start.scores, after))
    game_of: dict[str, str] = {}
    for (names, _, _, before, _, after), (others, *place, source, scores, _) in pairwise(sorted(parts)):
        if names == others and scores == after and any(place):
            whole = f"{game_of.get(before, before)}\n{source}"
            game_of |= dict.fromkeys(whole.split("\n"), whole)
    return list(dict.fromkeys(game_of.get(source, source) for source in sources))


def is_folder(source: str) -> bool:
    """Whether a full source is a folder.

    Raises:
        ReplayError: it names a file or folder that does not exist or cannot be read.
    """
    if source == STDIN or "://" in source:
        return False
    path = Path(source)
    try:
        path.stat()
    except FileNotFoundError:
        raise MissingSourceError(f"{shown(source)}: no such file or folder") from None
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "not a valid file name"
        raise ReplayError(f"{shown(source)}: cannot be read: {why}") from exc
    return path.is_dir()


def players_text(names: Iterable[str], wanted: str) -> str:
    """The players of some games, those with names like the wanted one first, then the most frequent.

    >>> players_text(["A", "B", "Player", "B"], "Plaver")
    'Player, B, A'
    """
    counts = Counter(clean_text(name) or "?" for name in names)
    alike = difflib.get_close_matches(wanted, counts)
    told = [*alike, *(name for name, _ in counts.most_common() if name not in alike)]
    return ", ".join(told[:_NAMED]) + (", …" if len(told) > _NAMED else "")


def shown(source: str) -> str:
    """The name of a source in messages.

    >>> shown("-"), shown("games/a.xml")
    ('stdin', 'games/a.xml')
    """
    return "stdin" if source == STDIN else source.partition("\n")[0][:_SHOWN]


def load(source: str) -> LoadedRecord:
    """Load a record from a full source; games on Tenhou are downloaded.

    Raises:
        ReplayError: the record cannot be read or downloaded.
    """
    if source == STDIN:
        data = _read_once(sys.stdin)
        if len(data) > MAX_FILE:
            raise ReplayTooLarge(f"more than {MAX_FILE} bytes")
        return LoadedRecord(parse(data), "stdin", format_of(data), None)
    if "\n" in source:
        rounds = [_of_file(Path(each)) for each in source.split("\n")]
        events = [event for loaded in rounds for event in loaded.record.events[1:]]
        record = rounds[0].record
        game_type = rounds[-1].record.game_type  # where no rules are said, the last round tells the length
        whole = msgspec.structs.replace(record, events=(record.events[0], *events), game_type=game_type)
        return rounds[0]._replace(record=whole)
    if is_link(source):
        return LoadedRecord(read_game(source), "link", "link", viewed_player(source))
    link = parse_link(source)
    if link is not None:
        loaded = _of_file(fetched(link.game_id, cache_folder() / _FETCHED))
        return loaded._replace(player=link.player)
    if "://" in source:
        raise ReplayError(
            "only links to games on tenhou.net are supported; download the record and name the file"
        )
    return _of_file(Path(source))


def records_in(folder: Path) -> Iterator[Path]:
    """Files of a folder that are records by their suffix, sorted by name; decisions and indexes are left out.

    Raises:
        ReplayError: the folder cannot be read.
    """
    try:
        found = sorted(folder.iterdir())
    except OSError as exc:
        raise ReplayError(f"{folder}: cannot be read: {exc.strerror}") from exc
    for path in found:
        suffix = Path(path.name.removesuffix(".gz")).suffix
        beside = path.name == INDEX_FILE or path.name.endswith(DECISIONS_SUFFIX)
        if suffix in SUFFIXES and not beside and not path.is_dir() and not _is_result(path):
            yield path


@functools.lru_cache(maxsize=1)
def _read_once(stdin: TextIO | None) -> bytes:
    """The bytes of stdin; they are needed to list the sources and whenever the record is loaded."""
    if stdin is None:
        raise ReplayError("stdin is closed")
    return stdin.buffer.read(MAX_FILE + 1)


def _of_file(path: Path) -> LoadedRecord:
    if path.name.endswith(DECISIONS_SUFFIX):
        raise ReplayError(
            f"a file of decisions, not a record; use {record_file(path).name} in the same folder"
        )
    data = read_file(path, MAX_FILE)
    if data.startswith(_OWN_RESULT):
        raise ReplayError("a review, not a record; use the record it was made from")
    record = _with_decisions(parse(data, id_in_name(path.name)), path)
    named = _PLAYER_IN_NAME.search(path.name)
    return LoadedRecord(record, path.name, format_of(data), int(named[1]) if named else record.own_player)


def _with_decisions(record: GameRecord, path: Path) -> GameRecord:
    if not path.name.endswith(RECORD_SUFFIX):
        return record
    try:
        return msgspec.structs.replace(record, decisions=decisions_beside(path))
    except ReplayError as exc:
        sys.stderr.write(f"note: {clean_text(str(exc))}; the decisions made in play are left out\n")
        return record


def _is_result(path: Path) -> bool:
    try:
        return path.suffix == ".json" and read_file(path, MAX_FILE).startswith(_OWN_RESULT)
    except ReplayError:
        return False
