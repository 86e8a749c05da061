"""Files from outside, files written where a user says, and the names of those of a library."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

import msgspec

from kit.errors import ReplayError, ReplayTooLarge
from kit.files import replace_file

RECORD_SUFFIX: Final = ".mjlog.xml"
DECISIONS_SUFFIX: Final = ".decisions.jsonl"
BROKEN_JSON: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What `msgspec` raises for a text from outside that is not the JSON of a type."""


def read_file(path: Path, limit: int) -> bytes:
    """Read the bytes of a file.

    Raises:
        ReplayTooLarge: it has more than ``limit`` bytes.
        ReplayError: it is not a file, or cannot be read.
    """
    try:
        # Non-blocking, because a pipe without a writer would block.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ReplayError(f"{path}: not a file")
            data = file.read(limit + 1)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise ReplayError(f"{str(path)!r}: not a valid file name: {exc}") from exc
    if len(data) > limit:
        raise ReplayTooLarge(f"{path}: more than {limit} bytes")
    return data


def write_file(path: Path, data: bytes, if_link: str, *, new_folder: bool = False) -> None:
    """Write a file whole or not at all.

    Args:
        path: the file; a symbolic link is not followed.
        data: its content.
        if_link: what to do about a link.
        new_folder: create its folder if there is none.

    Raises:
        ReplayError: it cannot be written.
    """
    try:
        if new_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            raise ReplayError(f"{path}: a symbolic link; {if_link}")
        replace_file(path, data)
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be written: {exc.strerror}") from exc
    except ValueError as exc:
        raise ReplayError(f"{str(path)!r}: not a valid file name: {exc}") from exc


def decisions_file(record: Path, player: int | None = None) -> Path:
    """The file beside a record with the decisions of a seat; without a seat, the file used by older games.

    >>> decisions_file(Path("r/ID.mjlog.xml"), 2).name, decisions_file(Path("r/ID.mjlog.xml")).name
    ('ID.seat2.decisions.jsonl', 'ID.decisions.jsonl')
    """
    seat = "" if player is None else f".seat{player}"
    return record.with_name(record.name.removesuffix(RECORD_SUFFIX) + seat + DECISIONS_SUFFIX)


def record_file(decisions: Path) -> Path:
    """The record beside a file of decisions."""
    name = re.sub(r"(\.seat[0-3])?$", "", decisions.name.removesuffix(DECISIONS_SUFFIX))
    return decisions.with_name(name + RECORD_SUFFIX)
