"""Store the resume code of a guest's seat across restarts, as the official client does.

Anyone who presents the code gets the seat, so it is a secret: only the owner can read the file, its name
reveals nothing, and only one process at a time uses it. An account does not need it; its id is enough.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from bot.play.lock import hashed_name, lock_file
from kit.errors import ConfigError
from kit.files import replace_file

SLOTS: Final = 16
"""Guests that can play concurrently from one user account of this machine."""
_CODE: Final = re.compile(r"[0-9A-F]{8}-[0-9A-F]{8}")

log = structlog.get_logger(__name__)


class ResumeStore:
    """One guest's code on disk; if the disk fails, resuming after a crash fails, but the game goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> str:
        """The code of the last seat, empty if there is none."""
        try:
            text = self._path.read_text("ascii").strip()
        except (OSError, ValueError):
            return ""
        return text if _CODE.fullmatch(text) else ""

    def save(self, code: str) -> None:
        """Save a code; an empty one deletes the saved code."""
        try:
            if not code:
                self._path.unlink(missing_ok=True)
                return
            replace_file(self._path, code.encode(), mode=0o600)
        except OSError as exc:
            log.warning("resume.unsaved", reason=exc.strerror or str(exc))


@contextlib.contextmanager
def resume_store(folder: Path, server: str) -> Iterator[ResumeStore | None]:
    """Reserve the store of a guest's code on a server for the duration of the block.

    Args:
        folder: folder of the codes; created if missing.
        server: address of the server; a code is valid on one server only.

    Yields:
        A store that no other process uses; None if all are in use or the folder is not writable.
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
