"""Unparsed records in sequence, from files, folders and shards.

A shard is Zstandard-compressed JSON lines, one game per line with its ``id``, ``source`` and ``text``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from kit.errors import ReplayError, ReplayFormatError
from kit.text import clean_text
from learning.runs.store import RESULTS_FILE
from replays.files import DECISIONS_SUFFIX, read_file
from replays.formats import MAX_FILE, SUFFIXES, detect, expand_gzip, read_game, write_game
from replays.store.index import INDEX_FILE
from replays.store.shards import SHARD_SUFFIX, parse_line, shard_lines

RECORD_SUFFIXES: Final = (*SUFFIXES, ".gz")
"""Files that are read in a folder, besides shards."""
_FILE_ID: Final = re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-[0-9]{4,5}-(?:[0-9a-f]{8}|x[0-9a-f]{12})")
_GAME_TYPE: Final = re.compile(r'<GO\s[^<>]*?type="([0-9]{1,4})"')


class StoredRecord(msgspec.Struct, frozen=True):
    """A record as stored.

    Attributes:
        place: the file, and the line in a shard, for messages.
        data: the line or the file; the fault if ``kind`` is "error".
        kind: "line" of a shard, "file", or "error".
    """

    place: str
    data: bytes
    kind: str


class RecordText(msgspec.Struct, frozen=True):
    """A record's text.

    Attributes:
        game_id: Tenhou's, or ``nolog-`` and a hash.
        source: where it came from.
        text: mjlog.
    """

    game_id: str
    source: str
    text: str

    @property
    def game_type(self) -> int:
        """Its type bits, 0 if the text does not specify them."""
        found = _GAME_TYPE.search(self.text, 0, 32_768)
        return int(found[1]) if found else 0


def source_files(paths: Sequence[Path]) -> list[Path]:
    """List the files of some paths; in a folder, every file named as a record or a shard.

    Raises:
        ReplayError: there are none.
    """
    suffixes = (SHARD_SUFFIX, *RECORD_SUFFIXES)
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(
                file
                for file in path.rglob("*")
                if file.name.endswith(suffixes)
                and not file.name.endswith((DECISIONS_SUFFIX, INDEX_FILE, RESULTS_FILE))
                and file.is_file()
            )
        else:
            files.append(path)
    if not files:
        raise ReplayError(f"no records in {', '.join(map(str, paths))}; they end in {', '.join(suffixes)}")
    return files


def stored_games(paths: Sequence[Path]) -> Iterator[StoredRecord]:
    """Every record of some files, folders and shards; a file that cannot be opened becomes an "error"."""
    for file in source_files(paths):
        try:
            yield from _games_of(file)
        except (OSError, ReplayError) as exc:
            yield StoredRecord(clean_text(file.name), clean_text(str(exc)).encode(), "error")


def load(stored: StoredRecord) -> RecordText:
    """Load the text of a record.

    Raises:
        ReplayFormatError: it is not a record, or not in a format read here.
        ReplayTooLarge: it expands past `replays.formats.MAX_EXPANDED`.
    """
    if stored.kind == "error":
        raise ReplayFormatError(stored.data.decode())
    if stored.kind == "line":
        game = parse_line(stored.data)
        if game.format != "mjlog":
            raise ReplayFormatError(f"the line holds {game.format!r}, not mjlog")
        return RecordText(game.game_id, game.source, game.text)
    data = expand_gzip(stored.data) if stored.data[:2] == b"\x1f\x8b" else stored.data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ReplayFormatError(f"not UTF-8: {exc.reason}") from None
    if detect(text) != "mjlog":
        text = write_game(read_game(text), "mjlog")
    found = _FILE_ID.match(stored.place)
    return RecordText(
        found[0] if found else f"nolog-{hashlib.sha256(data).hexdigest()[:16]}", stored.place, text
    )


def _games_of(file: Path) -> Iterator[StoredRecord]:
    name = clean_text(file.name)  # a file name can hold any bytes, text or not
    if not file.name.endswith(SHARD_SUFFIX):
        yield StoredRecord(name, read_file(file, MAX_FILE), "file")
        return
    for line in shard_lines(file):
        place = f"{name}:{line.number}"
        if line.problem:
            yield StoredRecord(place, line.problem.encode(), "error")
        else:
            yield StoredRecord(place, line.data, "line")
