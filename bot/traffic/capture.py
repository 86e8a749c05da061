"""Captured traffic: write all frames to a file, redacted, and read them in any of several line forms.

One line per frame: seconds since the start of the capture, TAB, ``C`` (client) or ``S`` (server), TAB, the
text. ``suzaku traffic verify`` reads the file. Chat is limited to a few frames a minute, and the file to the
size that its reader accepts, so that neither a chatty server nor a long run fills the disk.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, TextIO, TypeAlias

import msgspec
import structlog

from bot.logs.redaction import redact
from bot.logs.setup import RateLimit
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
    """Frames of a capture, in order, with their line numbers and directions.

    Line forms: ``Send:``/``Get:`` and XML elements; seconds TAB ``C``/``S`` TAB one frame; ``C``/``S`` and
    one quoted frame; and bare XML elements from the server (a received stream, or a record file).

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


Direction: TypeAlias = Literal["C", "S"]

CHAT: Final = ('{"tag":"CHAT"', "<CHAT")
"""Start of a chat frame from the server, in JSON and XML."""
LONGEST_REMARK: Final = 64

log = structlog.get_logger(__name__)


class Capture:
    """A capture file. If the disk fails, the capture ends and the game goes on."""

    def __init__(self, path: Path, now: Callable[[], float] = time.monotonic) -> None:
        """Open the file.

        Raises:
            OSError: the file cannot be written.
        """
        self._now = now
        self._chat = RateLimit(now=now)
        self._size = 0
        self._began = now()
        path.parent.mkdir(parents=True, exist_ok=True)
        # readable by the owner only: it contains chat and other players' names
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file: TextIO | None = os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n")
        self._write("# seconds\tC client, S server\tframe, secrets redacted\n")

    def frame(self, direction: Direction, text: str) -> None:
        """Write one frame."""
        if self._file is None:
            return
        is_chat = direction == "S" and text.startswith(CHAT)
        left_out = self._chat.admit("chat") if is_chat else 0
        if left_out is None:
            return
        line = _one_line(redact(text))
        try:
            self._tell(left_out)
            self._write(f"{self._now() - self._began:.3f}\t{direction}\t{line}\n")
            if self._file is not None:
                self._file.flush()
        except OSError as exc:
            log.warning("capture.failed", error=str(exc), hint="the game goes on without a capture")
            self.close()

    def _tell(self, chats: int) -> None:
        if chats:
            self._write(f"# {chats} chat frames left out\n")

    def _write(self, line: str) -> None:
        """Write a line, or end the capture if the file would become too large to read.

        Raises:
            OSError: the line cannot be written.
        """
        if self._file is None:
            return
        size = len(line.encode("utf-8", "replace"))
        if self._size + size > MAX_FILE_BYTES - LONGEST_REMARK:
            log.warning(
                "capture.full",
                mib=MAX_FILE_BYTES >> 20,
                hint="the game goes on without a capture; use another file for the next run",
            )
            self._file.write("# the capture is full\n")
            self.close()
            return
        self._file.write(line)
        self._size += size

    def close(self) -> None:
        """Finish the file."""
        left_out = sum(self._chat.take_left_out().values())
        file, self._file = self._file, None
        if file is not None:
            try:
                if left_out:
                    file.write(f"# {left_out} chat frames left out\n")
                file.close()
            except OSError as exc:
                log.warning("capture.failed", error=str(exc))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _one_line(text: str) -> str:
    """The frame without line ends; valid frames have none, and a broken server must not forge a line."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")
