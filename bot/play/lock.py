"""One process per login id: a second process is refused before it connects."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kit.errors import ConfigError


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
    with lock_file(folder / f"{hashed_name(login_id)}.lock"):
        yield


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a lock file for the duration of the block.

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
            raise ConfigError(
                f"another process is playing with this id (lock file {path}); "
                "stop it first: two logins with the same id disconnect each other"
            ) from exc
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
