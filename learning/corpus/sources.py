"""Records one after the other, from files, folders and shards, unread.

A shard is Zstandard-compressed JSON lines, one game a line with its ``id``, ``source`` and ``text``.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec
import zstandard

from game.errors import ReplayError, ReplayFormatError, ReplayTooLarge

SHARD_SUFFIX: Final = ".jsonl.zst"
RECORD_SUFFIXES: Final = (".xml", ".mjlog", ".gz")
"""What is read of a folder, beside shards."""
MAX_LINE: Final = 8 * 1024 * 1024
"""Bytes of one game in a shard; a long one has 100 kB."""
_MAX_WINDOW: Final = 1 << 27
_PIECE: Final = 1 << 20
_FILE_ID: Final = re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-[0-9]{4,5}-(?:[0-9a-f]{8}|x[0-9a-f]{12})")
_GAME_TYPE: Final = re.compile(r'<GO\s[^<>]*?type="([0-9]{1,4})"')


class Stored(msgspec.Struct, frozen=True):
    """A record as it lies somewhere.

    Attributes:
        place: file, and line in a shard, for messages.
        data: the line or the file; what was wrong with it if ``kind`` is "error".
        kind: "line" of a shard, "file", or "error".
    """

    place: str
    data: bytes
    kind: str


class Loaded(msgspec.Struct, frozen=True):
    """A record's text.

    Attributes:
        game_id: Tenhou's, or ``nolog-`` and a hash.
        source: where it came from.
        text: the mjlog text.
    """

    game_id: str
    source: str
    text: str

    @property
    def game_type(self) -> int:
        """Its type bits, 0 if the text does not say."""
        found = _GAME_TYPE.search(self.text, 0, 32_768)
        return int(found[1]) if found else 0


class _Line(msgspec.Struct):
    id: str
    text: str
    source: str = ""
    format: str = "mjlog"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def source_files(paths: Sequence[Path]) -> list[Path]:
    """The files of some paths; of a folder, everything in it whose name is a record's or a shard's.

    Raises:
        ReplayError: there are none.
    """
    suffixes = (SHARD_SUFFIX, *RECORD_SUFFIXES)
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(
                file for file in path.rglob("*") if file.name.endswith(suffixes) and file.is_file()
            )
        else:
            files.append(path)
    if not files:
        raise ReplayError(f"no records in {', '.join(map(str, paths))}; they end in {', '.join(suffixes)}")
    return files


def stored_games(paths: Sequence[Path]) -> Iterator[Stored]:
    """Every record of some files, folders and shards; what cannot be opened becomes an "error"."""
    for file in source_files(paths):
        try:
            yield from _games_of(file)
        except (OSError, zstandard.ZstdError, ReplayError) as exc:
            yield Stored(file.name, str(exc).encode(), "error")


def load(stored: Stored) -> Loaded:
    """The text of a record.

    Raises:
        ReplayFormatError: it is none, or of a form not read here.
        ReplayTooLarge: it expands past `MAX_LINE`.
    """
    if stored.kind == "error":
        raise ReplayFormatError(stored.data.decode())
    if stored.kind == "line":
        try:
            line = msgspec.json.decode(stored.data, type=_Line)
        except msgspec.MsgspecError as exc:
            raise ReplayFormatError(f"no game in this line: {exc}") from None
        if line.format != "mjlog":
            raise ReplayFormatError(f"the line holds {line.format[:20]!r}, not mjlog")
        return Loaded(line.id[:64], line.source[:400], line.text)
    data = _expanded(stored.data) if stored.data[:2] == b"\x1f\x8b" else stored.data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ReplayFormatError(f"not UTF-8: {exc.reason}") from None
    found = _FILE_ID.match(stored.place)
    return Loaded(found[0] if found else f"nolog-{hashlib.sha256(data).hexdigest()[:16]}", stored.place, text)


def _games_of(file: Path) -> Iterator[Stored]:
    if not file.name.endswith(SHARD_SUFFIX):
        with file.open("rb") as opened:
            data = opened.read(MAX_LINE + 1)
        if len(data) > MAX_LINE:
            raise ReplayTooLarge(f"{file.name} has more than {MAX_LINE} bytes")
        yield Stored(file.name, data, "file")
        return
    with file.open("rb") as opened:
        stream = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(opened)
        for number, line in enumerate(_lines(stream), start=1):
            yield Stored(f"{file.name}:{number}", line, "line")


def _lines(stream: _Readable) -> Iterator[bytes]:
    rest = b""
    while piece := stream.read(_PIECE):
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line for line in whole if line)
        if len(rest) > MAX_LINE:
            raise ReplayTooLarge(f"a line has more than {MAX_LINE} bytes")
    if rest:
        yield rest


def _expanded(data: bytes) -> bytes:
    expander = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        expanded = expander.decompress(data, MAX_LINE + 1)
    except zlib.error as exc:
        raise ReplayFormatError(str(exc)) from None
    if len(expanded) > MAX_LINE:
        raise ReplayTooLarge(f"expands past {MAX_LINE} bytes")
    if not expander.eof:
        raise ReplayFormatError("cut short")
    return expanded
