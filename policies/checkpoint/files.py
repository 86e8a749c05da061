"""Reading untrusted files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from kit.errors import CheckpointCorrupt, CheckpointMissing

Reader: TypeAlias = Callable[[Path, int, int], bytes]
"""Reads a file as `read_file` does, from any source."""

_READ: Final = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


def read_file(path: Path, least: int, most: int) -> bytes:
    """Read a regular file whose size is within limits; nothing else is read.

    Args:
        path: not a link, though its folder may be one.
        least: minimum size in bytes.
        most: maximum size in bytes.

    Raises:
        CheckpointMissing: the file does not exist.
        CheckpointCorrupt: it is not a regular file, has another size, or cannot be read.
    """
    try:
        if path.is_symlink():
            raise CheckpointCorrupt(path, "file", "is a link")
        with os.fdopen(os.open(path, _READ), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise CheckpointCorrupt(path, "file", "is not a regular file")
            _check_size(path, found.st_size, least, most)
            data = file.read(most + 1)
    except FileNotFoundError:
        raise CheckpointMissing(path, "file", "not found") from None
    except OSError as exc:
        problem = "is a link" if exc.errno == errno.ELOOP else f"cannot be read ({exc.strerror})"
        raise CheckpointCorrupt(path, "file", problem) from None
    _check_size(path, len(data), least, most)
    return data


def reader_of(files: Mapping[str, bytes]) -> Reader:
    """Reads the files of another machine by name, as `read_file` would from their folder."""

    def read(path: Path, least: int, most: int) -> bytes:
        if path.name not in files:
            raise CheckpointMissing(path, "file", "not among the files sent with it")
        data = files[path.name]
        _check_size(path, len(data), least, most)
        return data

    return read


def _check_size(path: Path, size: int, least: int, most: int) -> None:
    if least <= size <= most:
        return
    wanted = f"{least}" if least == most else f"{least} to {most}"
    raise CheckpointCorrupt(path, "size", f"{size} bytes, expected {wanted}")
