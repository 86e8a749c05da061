"""One process per login id: a second copy started by mistake is refused before it connects."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from game.errors import ConfigError


def hashed_name(secret: str) -> str:
    """A file name that belongs to a secret and does not tell it."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


@contextlib.contextmanager
def id_lock(folder: Path, login_id: str) -> Iterator[None]:
    """Hold an id for as long as the block runs.

    The system drops the lock with the process, however it ends, so that nothing is left to clean up.

    Args:
        folder: where lock files lie; made if it is missing.
        login_id: the secret id, or the guest's name; only a hash of it becomes part of a file name.

    Raises:
        ConfigError: another process holds it, or the folder cannot be written.
    """
    with lock_file(folder / f"{hashed_name(login_id)}.lock"):
        yield


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a lock file for as long as the block runs.

    Raises:
        ConfigError: another process holds it, or it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as exc:
        raise ConfigError(
            f"the lock file {path} cannot be made ({exc.strerror}); make the folder writable"
        ) from exc
    try:
        try:
            _lock(file)
        except OSError as exc:
            raise ConfigError(
                f"another process is playing under this id (lock file {path}); "
                "stop it first: two logins of one id throw each other out"
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
