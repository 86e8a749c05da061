"""One program per login: a lock file for each id, whose name does not tell the id."""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import platformdirs

from game.errors import ConfigError


class LoginLock:
    """Held while an id is in use; the system lets go of it when the program ends, however it ends."""

    def __init__(self, login: str, folder: Path | None = None) -> None:
        self._folder = folder or platformdirs.user_state_path("suzaku") / "locks"
        digest = hashlib.sha256(f"suzaku login {login}".encode()).hexdigest()
        self.path = self._folder / f"{digest[:24]}.lock"
        self._handle = -1

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            ConfigError: another program holds it, or it cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            self._release()
            raise ConfigError(
                "another Suzaku is already logged in with this id; let it finish or stop it first "
                f"(lock file {self.path})"
            ) from exc
        except OSError as exc:
            self._release()
            raise ConfigError(f"cannot lock {self.path}: {exc.strerror}; make that folder writable") from exc
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
