"""Paths as users write them, and atomic file replacement: an interruption leaves the old file or the new."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from kit.errors import ConfigError

TEMPORARY: Final = r"\.[0-9a-f]{12}\.tmp"
"""Matches the suffix of a file that is being written; every writer has a suffix of its own."""
LEFT_S: Final = 3600.0
"""No write takes this long: anything older was left by a killed process."""
LOCK_S: Final = 2.0

_WRITE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
_LOCK_STEP_S: Final = 0.02


def expand_home(text: str) -> Path:
    """The path of a text in which a leading ``~`` or ``~NAME`` stands for a home folder.

    Raises:
        ValueError: there is no such user, or the text is not a valid path.
    """
    if "\0" in text:
        raise ValueError("a path cannot contain a NUL character")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        user = text.partition("/")[0]
        raise ValueError(f"no home folder is known for `{user}`; write the path out") from None


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file to write in the block, which then replaces the one at the path: either the old data or the new.

    It is written beside the path, flushed and renamed; if the block raises, it is removed.

    Args:
        path: in an existing folder.
        mode: permissions of the new file.

    Raises:
        OSError: the disk is full or the folder read-only; the file is unchanged.
    """
    temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        with os.fdopen(os.open(temporary, _WRITE, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def replace_file(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace the data of a file at once; see `replacing`.

    Raises:
        OSError: the disk is full or the folder read-only; the file is unchanged.
    """
    with replacing(path, mode) as file:
        file.write(data)


def hash_beside(path: Path) -> Path:
    """The file with the hash of another."""
    return path.with_name(f"{path.name}.sha256")


def replace_hashed(path: Path, data: bytes) -> None:
    """Replace the data of a file at once, and its hash beside it.

    Until the new data is there, both hashes are: an interruption leaves a file with its hash beside it.

    Raises:
        OSError: the disk is full or the folder read-only; the file is unchanged.
    """
    beside, digest = hash_beside(path), hashlib.sha256(data).hexdigest()
    line = f"{digest}  {path.name}\n"
    replace_file(beside, (line + "".join(f"{old}  {path.name}\n" for old in _hashes(path))).encode())
    replace_file(path, data)
    replace_file(beside, line.encode())


def check_hash(path: Path) -> None:
    """Check a file against the hash beside it, if there is one.

    Raises:
        OSError: one of them cannot be read.
        ValueError: the file has another hash.
    """
    beside = hash_beside(path)
    if beside.exists() and _hash_of(path) not in _hashes(path):
        raise ValueError(f"damaged: its hash is not the one in {beside.name}")


def _hashes(path: Path) -> list[str]:
    """The hashes that a file may have, by the file beside it; without one, that of the file as it is."""
    beside = hash_beside(path)
    if beside.exists():
        return [line.partition(" ")[0] for line in beside.read_text("ascii", "replace").splitlines()]
    return [_hash_of(path)] if path.exists() else []


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush_folder(folder: Path) -> None:
    """Make a rename survive a power loss, if the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_leftovers(folder: Path, older_than_s: float = LEFT_S) -> None:
    """Remove temporary files left by processes killed while writing; never raises.

    Args:
        folder: of the files.
        older_than_s: younger files may still be being written; 0 where nobody else writes.
    """
    ends = re.compile(rf".+{TEMPORARY}")
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if ends.fullmatch(path.name) and time.time() - path.lstat().st_mtime > older_than_s:
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes that use this lock, if the system can.

    Raises:
        OSError: another process holds the lock for more than `LOCK_S`.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(handle, LOCK_S)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked_file(path: Path, patience_s: float) -> Iterator[None]:
    """Lock a file made for the purpose, if the system can; it is removed at the end.

    Args:
        path: in an existing folder.
        patience_s: how long to wait for another process to release it.

    Raises:
        OSError: another process holds it for longer, or the folder is read-only.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        if sys.platform != "win32":
            _lock(handle, patience_s)
        yield
        path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def hold_folder(folder: Path) -> contextlib.ExitStack:
    """Lock the folder of a run until what is returned is closed, or this process ends.

    Two processes with one folder would replace each other's results.

    Raises:
        ConfigError: another process holds it.
    """
    held = contextlib.ExitStack()
    try:
        held.enter_context(locked_folder(folder))
    except OSError as exc:
        raise ConfigError(
            f"{folder}: {exc.strerror}; stop it or wait for its end, or choose another folder with --out"
        ) from exc
    return held


if sys.platform != "win32":
    import fcntl

    def _lock(handle: int, patience_s: float) -> None:
        until = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise OSError(errno.EAGAIN, "another process is writing there") from None
                time.sleep(_LOCK_STEP_S)
            except OSError:
                return  # a file system without locks
            else:
                return
