"""The folder of what is kept between runs and can be made again: compiled kernels, tables, downloads.

Its files are checksummed, readable only where no other user may have written them, and replaced atomically.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Final

import platformdirs
import structlog

from kit.errors import ConfigError
from kit.files import expand_home, replace_file

CACHE_VARIABLE: Final = "SUZAKU_CACHE_DIR"
"""Environment variable that relocates everything we keep between runs."""

_KEPT_VERSIONS: Final = 3
_told: Final = set[Path]()

log = structlog.get_logger(__name__)


def cache_folder() -> Path:
    """The folder of compiled kernels: ``SUZAKU_CACHE_DIR``, else the user's cache folder.

    Raises:
        ConfigError: the variable is not a path.
    """
    moved = os.environ.get(CACHE_VARIABLE)
    try:
        return expand_home(moved) if moved else platformdirs.user_cache_path("suzaku")
    except ValueError as exc:
        raise ConfigError(f"{CACHE_VARIABLE}: {exc}") from exc


def is_kept() -> bool:
    """Whether what is compiled now will be found by other processes and by the next run."""
    folder = cache_folder()
    try:
        make_private(folder)
    except OSError:
        return False
    return is_private(folder) and os.access(folder, os.W_OK | os.X_OK)


def is_private(folder: Path) -> bool:
    """Whether no other user may change a folder of the cache; if some may, that is logged once.

    Args:
        folder: in the cache folder; it need not exist yet.
    """
    top = cache_folder()
    for each in (folder, *folder.parents):
        try:
            if not _is_ours(each.stat()):
                _tell_once(each, "other users may write there", f"run `chmod go-w {each}` if it is yours")
                return False
        except OSError:  # not there yet
            pass
        if each == top:
            break
    return True


def _is_ours(found: os.stat_result) -> bool:
    """Whether only this user and root may change a file, or what is there already in a folder."""
    if sys.platform == "win32":
        return True
    guarded = not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or bool(found.st_mode & stat.S_ISVTX)
    return found.st_uid in (0, os.geteuid()) and guarded


def _tell_once(folder: Path, reason: str, hint: str) -> None:
    """Log why a folder of the cache is not used; processes that this program starts say nothing."""
    if not _told and multiprocessing.parent_process() is None:
        log.warning(
            "kernels.cache_unused",
            folder=str(folder),
            reason=reason,
            hint=f"kernels are compiled in every run; {hint}, or set {CACHE_VARIABLE} to another folder",
        )
    _told.add(folder)


def make_private(folder: Path) -> None:
    """Make a folder of the cache, and those above it, for this user only."""
    for each in reversed((folder, *folder.parents)):
        each.mkdir(mode=0o700, exist_ok=True)


def read_checked(path: Path) -> bytes | None:
    """The data that `write_checked` wrote.

    None if the file is missing, truncated or modified, or if another user may have written it.
    """
    if not is_private(path.parent):
        return None
    try:
        with path.open("rb") as file:
            data = file.read() if _is_ours(os.fstat(file.fileno())) else b""
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def write_checked(path: Path, body: bytes) -> bool:
    """Write a file with its checksum, atomically even if other processes write it at the same time.

    Returns:
        Whether it could be written; a cache folder may be read-only or full, which is logged once.
    """
    if not is_private(path.parent):
        return False
    try:
        make_private(path.parent)
        replace_file(path, hashlib.sha256(body).digest() + body)
    except OSError as exc:
        _tell_once(path.parent, exc.strerror or type(exc).__name__, "make it writable")
        return False
    return True


def prune(current: Path) -> None:
    """Remove older versions of a file or folder ``name-key``: all but the newest few."""
    name = current.name.rpartition("-")[0]
    with contextlib.suppress(OSError):
        others = [p for p in current.parent.iterdir() if p.name.rpartition("-")[0] == name and p != current]
        others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        for old in others[_KEPT_VERSIONS:]:
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink()
