"""Keeps the code of a guest's seat over a restart, as the official client does.

Whoever presents a code takes the seat, so it is a secret: the file is the owner's alone, its name tells
nothing, and only one process at a time uses it. An account needs none of this; its id is enough.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from bot.lock import hashed_name, lock_file
from game.errors import ConfigError

SLOTS: Final = 16
"""Guests that play side by side from one account of this machine."""
_CODE: Final = re.compile(r"[0-9A-F]{8}-[0-9A-F]{8}")

log = structlog.get_logger(__name__)


class ResumeStore:
    """One guest's code on disk; a disk that fails costs the way back after a crash, never the game."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> str:
        """The code of the seat that was left, empty for none."""
        try:
            text = self._path.read_text("ascii").strip()
        except (OSError, ValueError):
            return ""
        return text if _CODE.fullmatch(text) else ""

    def save(self, code: str) -> None:
        """Remember a code; an empty one forgets the last."""
        try:
            if not code:
                self._path.unlink(missing_ok=True)
                return
            temporary = self._path.with_suffix(".tmp")
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(code)
            temporary.replace(self._path)
        except OSError as exc:
            log.warning("resume.unsaved", reason=exc.strerror or str(exc))


@contextlib.contextmanager
def resume_store(folder: Path, server: str) -> Iterator[ResumeStore | None]:
    """A guest's code on a server, held for as long as the block runs.

    Args:
        folder: where codes lie; made if it is missing.
        server: address of the server; codes of one mean nothing to another.

    Yields:
        The store nobody else is using; None if all are in use or the folder cannot be written.
    """
    name = hashed_name(server)
    for slot in range(SLOTS):
        path = folder / f"{name}-{slot}.code"
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(lock_file(path.with_suffix(".lock")))
            except ConfigError:
                continue
            yield ResumeStore(path)
            return
    yield None
