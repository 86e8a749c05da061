"""Recorded traffic for tests: a shared folder if present, and a few frames kept here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.shared import shared


def capture(name: str) -> Path:
    """A recorded capture; without the shared folder the test is skipped."""
    return shared("tenhou-traffic", name)


def captures() -> list[Path]:
    """All captures in the formats we read."""
    return sorted(path for path in capture("").iterdir() if path.suffix in (".log", ".xml", ".tsv", ".txt"))


_TIMED = re.compile(r"\s*[0-9.]+\t([CS])\t(.*)")
_QUOTED = re.compile(r"([CS])\s+([{<].*)")
_REMARK = re.compile(r"\s{2,}\([^()]*\)$")
_PROLOGUE = re.compile(r"<\?[^<>]*\?>|</[A-Za-z]\w*\s*>")
_ELEMENT = re.compile(r'<(?:[^<>"\0]|"[^"<\0]*")*>')


class CapturedFrame(msgspec.Struct, frozen=True):
    """One frame of a capture.

    Attributes:
        line: line number in the file, from 1.
        sender: ``C`` for the client, ``S`` for the server.
        text: as sent over the wire.
        quoted: the frame is quoted alone or with few others, without the rest of its connection.
    """

    line: int
    sender: str
    text: str
    quoted: bool = False


def read_capture(path: Path) -> Iterator[CapturedFrame | None]:
    """Frames of a capture, in order; None where another connection begins.

    Line forms: ``Send:``/``Get:`` and XML elements; seconds TAB ``C``/``S`` TAB one frame; ``C``/``S`` and
    one quoted frame; and bare XML elements from the server (a received stream, or a record file). What
    remains of a line besides elements is a frame too, which cannot be read.
    """
    # Only a line feed ends a line: names in a record may contain other line separators.
    for number, raw in enumerate(path.read_bytes().decode().split("\n"), 1):
        line = raw.strip("\r\0 ")
        if line.startswith("#"):
            if line.startswith("##"):
                yield None
        elif timed := _TIMED.fullmatch(line):
            yield CapturedFrame(number, timed[1], timed[2])
        elif quoted := _QUOTED.fullmatch(line):
            yield CapturedFrame(number, quoted[1], _REMARK.sub("", quoted[2]), quoted=True)
        else:
            sender = "C" if line.startswith("Send:") else "S"
            text = _PROLOGUE.sub("", line.removeprefix("Send:").removeprefix("Get:"))
            rest = _ELEMENT.sub("", text).strip("\0 \t")
            for part in [*_ELEMENT.findall(text), *([rest] if rest else [])]:
                yield CapturedFrame(number, sender, part)


def frames(kind: str) -> list[str]:
    """The frames of a file kept here, one a line."""
    return Path(__file__).with_name(f"{kind}_frames.txt").read_text("utf-8").splitlines()


SERVER_FRAMES, CLIENT_FRAMES = frames("server"), frames("client")
"""One of each kind, as recorded (names shortened)."""
