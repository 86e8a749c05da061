"""Records in every format: which one a text is in, reading it whatever it is, writing it as asked.

Everything here may come from a stranger: sizes are capped before and while a file expands, names of files
never come from what is in them, and nothing in a text is ever followed.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import zlib
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from game.errors import ReplayError, ReplayFormatError, ReplayTooLarge
from replays import mjai, mjlog, tenhou6
from replays.record import GameRecord, check_game_id

Format: TypeAlias = Literal["mjlog", "tenhou6", "link", "mjai"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

MAX_FILE: Final = 4 * 1024 * 1024
"""Bytes of a file as it lies on the disk; a long hanchan has 60 kB as mjlog and 200 kB as mjai."""
MAX_EXPANDED: Final = 8 * 1024 * 1024
"""Bytes of a file expanded."""

SUFFIXES: Final[dict[str, Format]] = {
    ".xml": "mjlog",
    ".mjlog": "mjlog",
    ".json": "tenhou6",
    ".url": "link",
    ".jsonl": "mjai",
    ".mjson": "mjai",
    ".mjai": "mjai",
}
"""Which format a file name asks for; ``.gz`` may follow."""
_VIEWER_LOSSES: Final = (
    "which copy of a tile was meant, the order hands were dealt in, dice, the wall's seed, and who was away"
)
LOSSES: Final[dict[Format, str]] = {"tenhou6": _VIEWER_LOSSES, "link": _VIEWER_LOSSES}
"""What a format cannot hold, in words for people."""

_GZIP: Final = b"\x1f\x8b"
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
_SPACE: Final = "\ufeff \t\r\n"
_FILE_ID: Final = re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-[0-9]{4,5}-x?[0-9a-f]{8,12}(?![0-9A-Za-z])")


def read_game(source: Path | str) -> GameRecord:
    """A game from a file, or from a text or link, in any format we know.

    Args:
        source: a path; or the text itself.

    Returns:
        The record; where its text has no id, that of the file's name, or "".

    Raises:
        ReplayFormatError: it is in no form we know, or is cut short.
        ReplayTooLarge: it is larger than any game can be, or expands past that.
        ReplayError: the file cannot be read.
    """
    if isinstance(source, str):
        return _parse(source, "")
    return parse(read_file(source), id_in_name(source.name))


def parse(data: bytes, game_id: str = "") -> GameRecord:
    """A game from the bytes of a file, plain or gzip.

    Raises:
        ReplayFormatError: it is in no form we know, or is cut short.
        ReplayTooLarge: it is larger than any game can be, or expands past that.
    """
    if data.startswith(_GZIP):
        data = expand_gzip(data)
    if data.startswith(_ZSTANDARD):
        raise ReplayFormatError("Zstandard: a shard of many games, not one; `suzaku corpus` reads those")
    if len(data) > MAX_EXPANDED:
        raise ReplayTooLarge(f"more than {MAX_EXPANDED} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ReplayFormatError(f"not UTF-8: {exc.reason} at byte {exc.start}") from None
    return _parse(text, game_id)


def detect(text: str) -> Format:
    """The format of a text, from how it begins.

    Raises:
        ReplayFormatError: it is none we know.
    """
    start = len(text) - len(text.lstrip(_SPACE))
    if text.startswith("<", start):
        return "mjlog"
    if tenhou6.is_link(text[start : start + 1000]):
        return "link"
    if text.startswith("{", start):
        end = text.find("\n", start)
        return "mjai" if _is_message(text[start : end if end >= 0 else len(text)]) else "tenhou6"
    raise ReplayFormatError(f"no record: it begins with {text[start : start + 40]!r}")


def format_of(data: bytes) -> Format:
    """The format of the bytes of a file, plain or gzip, that `parse` can read."""
    return detect((expand_gzip(data) if data.startswith(_GZIP) else data).decode("utf-8"))


def write_game(record: GameRecord, form: Format) -> str:
    """A game as text.

    Raises:
        ReplayFormatError: the format cannot hold this game; says why.
    """
    if form == "mjlog":
        if record.ending is None:
            raise ReplayFormatError("the record stops before the game's end, which an mjlog needs")
        return mjlog.write(record) + "\n"
    if form == "mjai":
        return mjai.write_record(record)
    return (tenhou6.link(record) if form == "link" else tenhou6.write(record)) + "\n"


def format_of_name(name: str) -> Format | None:
    """The format a file name asks for, None if it does not say.

    >>> format_of_name("game.mjlog.xml"), format_of_name("game.json.gz"), format_of_name("game")
    ('mjlog', 'tenhou6', None)
    """
    return SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)


def id_in_name(name: str) -> str:
    """The id of a game that a file's name begins with, "" where there is none.

    >>> id_in_name("2026010203gm-0009-0000-0123abcd&tw=2.mjlog"), id_in_name("game.xml")
    ('2026010203gm-0009-0000-0123abcd', '')
    """
    found = _FILE_ID.match(name)
    if found is None:
        return ""
    try:
        return check_game_id(found[0])
    except ReplayFormatError:
        return ""


def compress(text: str) -> bytes:
    """A text as gzip, the same each time."""
    return gzip.compress(text.encode("utf-8", "replace"), mtime=0)


def expand_gzip(data: bytes, limit: int = MAX_EXPANDED) -> bytes:
    """Expand one gzip member.

    Raises:
        ReplayTooLarge: it expands past ``limit`` bytes; no more than that was kept.
        ReplayFormatError: it is no gzip, is cut short, or something follows it.
    """
    expander = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        expanded = expander.decompress(data, limit + 1)
    except zlib.error as exc:
        raise ReplayFormatError(f"gzip: {exc}") from None
    if len(expanded) > limit:
        raise ReplayTooLarge(f"gzip: expands past {limit} bytes")
    if not expander.eof:
        raise ReplayFormatError("gzip: cut short")
    if expander.unused_data:
        raise ReplayFormatError("gzip: something follows its end; a record is one member")
    return expanded


def read_file(path: Path, limit: int = MAX_FILE) -> bytes:
    """The bytes of a file.

    Raises:
        ReplayTooLarge: it has more than ``limit`` of them.
        ReplayError: it is no file, or cannot be read.
    """
    try:
        # Without waiting for somebody to write, should it be a pipe.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ReplayError(f"{path}: not a file")
            data = file.read(limit + 1)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise ReplayError(f"{str(path)!r}: no name of a file: {exc}") from exc
    if len(data) > limit:
        raise ReplayTooLarge(f"{path}: more than {limit} bytes")
    return data


def _parse(text: str, game_id: str) -> GameRecord:
    if len(text) > MAX_EXPANDED:
        raise ReplayTooLarge(f"more than {MAX_EXPANDED} characters")
    match detect(text):
        case "mjlog":
            # Not that anything here would follow one: no record has them, so somebody is up to something.
            if re.search(r"<!|<\?(?!xml)", text):
                raise ReplayFormatError("mjlog: a DOCTYPE, entity, comment or instruction; no record has one")
            return mjlog.read_record(text, game_id)
        case "mjai":
            record = mjai.read_record(text)
        case _:
            record = tenhou6.read_record(text)
    return record if record.game_id else msgspec.structs.replace(record, game_id=game_id)


def _is_message(line: str) -> bool:
    """Whether a line is a message of mjai; any long one is not."""
    if len(line) > mjai.MAX_LINE:
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "type" in value
