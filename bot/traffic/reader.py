"""Read captured traffic in any of its line forms, and return each frame with its line number and direction.

Forms: ``Send:``/``Get:`` lines of XML elements; seconds TAB ``C``/``S`` TAB one frame; ``C``/``S`` and one
quoted frame; and bare XML elements from the server (a received stream, or a record file).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from bot.tenhou.messages import split_xml
from kit.errors import RemoteProtocolError

MAX_FILE_BYTES: Final = 64 * 1024 * 1024

_TCP: Final = re.compile(r"(Send|Get):\s*(.*)")
_TIMED: Final = re.compile(r"\s*[0-9.]+\t([CS])\t(.*)")
_QUOTED: Final = re.compile(r"([CS])\s+([{<].*)")
_REMARK: Final = re.compile(r"\s{2,}\([^()]*\)$")
_PROLOGUE: Final = re.compile(r"<\?[^<>]*\?>|</[A-Za-z]\w*\s*>")


class CapturedFrame(msgspec.Struct, frozen=True):
    """One frame of a capture.

    Attributes:
        line: line number in the file, from 1.
        sender: ``C`` for the client, ``S`` for the server.
        text: as sent over the wire.
        quoted: the frame is quoted alone or with few others, without the rest of its connection.
        error: why the line could not be parsed, empty if it could; ``text`` is then the unparsed part.
    """

    line: int
    sender: Literal["C", "S"]
    text: str
    quoted: bool = False
    error: str = ""


class Heading(msgspec.Struct, frozen=True):
    """Marks the start of another connection."""

    line: int


def read_capture(path: Path) -> Iterator[CapturedFrame | Heading]:
    """Frames of a capture, in order.

    Raises:
        OSError: the file cannot be read.
        RemoteProtocolError: the file is too large, or not text.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise RemoteProtocolError(f"the file is larger than {MAX_FILE_BYTES >> 20} MiB")
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError("the file is not UTF-8 text") from None
    # Only a line feed ends a line: names in a record may contain other line separators.
    for number, line in enumerate(text.split("\n"), 1):
        yield from _read_line(number, line.strip("\r\0 "))


def _read_line(number: int, line: str) -> Iterator[CapturedFrame | Heading]:
    if line.startswith("##"):
        yield Heading(number)
        return
    if not line or line.startswith("#"):
        return
    tcp = _TCP.fullmatch(line)
    if tcp:
        yield from _elements(number, "C" if tcp[1] == "Send" else "S", tcp[2])
        return
    timed = _TIMED.fullmatch(line)
    if timed:
        yield CapturedFrame(number, _sender(timed[1]), timed[2])
        return
    quoted = _QUOTED.fullmatch(line)
    if quoted:
        yield CapturedFrame(number, _sender(quoted[1]), _REMARK.sub("", quoted[2]), quoted=True)
        return
    yield from _elements(number, "S", _PROLOGUE.sub("", line))


def _sender(letter: str) -> Literal["C", "S"]:
    return "C" if letter == "C" else "S"


def _elements(number: int, sender: Literal["C", "S"], text: str) -> Iterator[CapturedFrame]:
    try:
        elements, rest = split_xml(text)
    except RemoteProtocolError as exc:
        yield CapturedFrame(number, sender, text, error=exc.reason)
        return
    for element in elements:
        yield CapturedFrame(number, sender, element)
    if rest:
        yield CapturedFrame(number, sender, rest, error="an element cut short")
