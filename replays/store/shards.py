"""Shards: many games in one file, Zstandard-compressed JSON lines (``id``, ``source``, ``format``, ``text``).

They are read in pieces, in bounded memory. A bad line is reported and the next one is read. A truncated shard
is reported at its end, which the decoder alone would not do.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Final

import msgspec
import zstandard

from kit.errors import ReplayFormatError
from replays.files import BROKEN_JSON

SHARD_SUFFIX: Final = ".jsonl.zst"
MAX_LINE: Final = 8 * 1024 * 1024
"""Bytes of one game; a long one has 100,000."""

_MAX_WINDOW: Final = 1 << 27
# A block of 128 KiB can take four bytes of a file, so a piece expands to at most 32 MiB of text.
_PIECE: Final = 1024


class ShardLine(msgspec.Struct, frozen=True):
    """One line of a shard.

    Attributes:
        number: counted from 1.
        data: its bytes, empty if it has a problem.
        problem: why it cannot be read, "" if no problem is known.
    """

    number: int
    data: bytes
    problem: str = ""


class ShardGame(msgspec.Struct, frozen=True):
    """One game of a shard, its text not parsed yet.

    Attributes:
        game_id: Tenhou's, or ``nolog-`` and a hash.
        text: the record.
        source: where it was found.
        format: format of the text.
        line: number of its line.
    """

    game_id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{1,80}$")] = msgspec.field(name="id")
    text: str
    source: str = ""
    format: Annotated[str, msgspec.Meta(max_length=20)] = "mjlog"
    line: int = 0


_games: Final = msgspec.json.Decoder(ShardGame)


def parse_line(data: bytes, number: int = 0) -> ShardGame:
    """Parse the game of one line.

    Raises:
        ReplayFormatError: it does not contain one.
    """
    try:
        game = _games.decode(data)
    except BROKEN_JSON as exc:
        raise ReplayFormatError(f"no game in this line: {exc}") from None
    return msgspec.structs.replace(game, source=game.source[:400], line=number)


def shard_lines(path: Path) -> Iterator[ShardLine]:
    """Every non-empty line of a shard; the last one has a problem if the file is truncated or broken.

    Raises:
        OSError: the file cannot be opened.
    """
    number, rest, too_long = 1, bytearray(), False
    with path.open("rb") as file:
        try:
            for piece in _expanded(file):
                first, *others = piece.split(b"\n")
                rest += first
                for other in others:
                    if too_long or rest:
                        yield _line(number, rest, too_long)
                    number, rest, too_long = number + 1, bytearray(other), False
                if len(rest) > MAX_LINE:
                    rest, too_long = bytearray(), True
        except (ReplayFormatError, zstandard.ZstdError) as exc:
            yield ShardLine(number, b"", f"the shard is broken: {exc}")
            return
    if too_long or rest:
        yield _line(number, rest, too_long)


def _line(number: int, data: bytearray, too_long: bool) -> ShardLine:
    if too_long or len(data) > MAX_LINE:
        return ShardLine(number, b"", f"more than {MAX_LINE} bytes")
    return ShardLine(number, bytes(data))


def _expanded(file: IO[bytes]) -> Iterator[bytes]:
    """The text of all frames of a file, in pieces."""
    expander = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    frame = None
    while data := file.read(_PIECE):
        while data:
            frame = frame or expander.decompressobj()
            yield frame.decompress(data)
            data = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise ReplayFormatError("it is cut short")
    if file.tell() == 0:
        raise ReplayFormatError("it is empty")
