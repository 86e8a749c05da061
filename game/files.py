"""Paths as users write them, and files replaced whole: a stop at any moment leaves the old one or the new."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".tmp"
"""What the name of a file ends with while it is being written."""

_WRITE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


def expand_home(text: str) -> Path:
    """The path of a text in which ``~`` or ``~NAME`` at the beginning stands for a home folder.

    Raises:
        ValueError: there is no such user, or the text cannot be a path.
    """
    if "\0" in text:
        raise ValueError("a path cannot hold a NUL character")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        user = text.partition("/")[0]
        raise ValueError(f"no home folder is known for `{user}`; write the path out") from None


def replace_file(path: Path, data: bytes) -> None:
    """Write beside the path, flush, and rename over it: it holds what it held, or all of the data.

    Raises:
        OSError: the disk is full or the folder read-only; the file is as it was.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        with os.fdopen(os.open(temporary, _WRITE, 0o644), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Make a rename outlast a loss of power, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
