"""Reading files from outside."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kit.errors import ReplayError, ReplayTooLarge


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
