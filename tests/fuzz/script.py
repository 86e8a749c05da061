"""Scripts for the fuzz target: a server's frames on one connection after another, as a text file.

Each line of a file is a step: ``new line`` for a connection that replaces the one before, or a JSON string
with the text of one frame.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from tests.bot.captures import read_capture

NEW_LINE: Final = None
"""The step at which a new connection replaces the previous one."""
_NEW_LINE_TEXT: Final = "new line"

Script: TypeAlias = list[str | None]
"""Frames of a server, and `NEW_LINE` before those of each connection."""


def read_script(path: Path) -> Script:
    """The steps in a file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [NEW_LINE if line == _NEW_LINE_TEXT else json.loads(line) for line in lines if line]


def write_script(path: Path, script: Iterable[str | None]) -> None:
    """Save steps to a file; a lone surrogate in a frame is preserved."""
    lines = (_NEW_LINE_TEXT if step is NEW_LINE else json.dumps(step) for step in script)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def scripts_in(folder: Path) -> dict[str, Script]:
    """The scripts of a folder by name."""
    return {path.stem: read_script(path) for path in sorted(folder.glob("*.txt"))}


def captured(path: Path) -> Script:
    """The server's side of recorded traffic."""
    script: Script = [NEW_LINE]
    for frame in read_capture(path):
        if frame is None:
            script.append(NEW_LINE)
        elif frame.sender == "S":
            script.append(frame.text)
    return script


def connections(frames: Iterable[tuple[str, str]]) -> Iterator[str | None]:
    """The server's frames out of a relay's, with `NEW_LINE` where the client logs in."""
    for side, text in frames:
        if side == "S":
            yield text
        elif '"HELO"' in text:
            yield NEW_LINE
