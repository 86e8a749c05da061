"""One process per login id: a second process is refused before it connects.

The resume code of a guest's seat is stored across restarts, as the official client does. Anyone who presents
the code gets the seat, so it is a secret: only the owner can read the file, its name reveals nothing, and
only one process at a time uses it. An account does not need it; its id is enough.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from kit.errors import ConfigError
from kit.files import replace_file

SLOTS: Final = 16
"""Guests that can play concurrently from one user account of this machine."""
_CODE: Final = re.compile(r"[0-9A-F]{8}-[0-9A-F]{8}")

log = structlog.get_logger(__name__)


def hashed_name(secret: str) -> str:
    """A file name derived from a secret that does not reveal it."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


@contextlib.contextmanager
def id_lock(folder: Path, login_id: str) -> Iterator[None]:
    """Hold the lock of an id for the duration of the block.

    The system releases the lock when the process ends, however it ends, so no cleanup is needed.

    Args:
        folder: folder of the lock files; created if missing.
        login_id: the secret id, or the guest name; the file name contains only a hash of it.

    Raises:
        ConfigError: another process holds the lock, or the folder is not writable.
    """
    path = folder / f"{hashed_name(login_id)}.lock"
    busy = (
        f"another process is playing with this id (lock file {path}); "
        "stop it first: two logins with the same id disconnect each other"
    )
    with lock_file(path, busy):
        yield


@contextlib.contextmanager
def lock_file(path: Path, busy: str = "") -> Iterator[None]:
    """Hold a lock file for the duration of the block.

    Args:
        path: the file.
        busy: the message if another process holds it.

    Raises:
        ConfigError: another process holds the lock, or the file cannot be created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as exc:
        raise ConfigError(
            f"the lock file {path} cannot be created ({exc.strerror}); make the folder writable"
        ) from exc
    try:
        try:
            _lock(file)
        except OSError as exc:
            raise ConfigError(busy) from exc
        yield
    finally:
        os.close(file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
