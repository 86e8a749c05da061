"""Save finished games, from the built-in lobby and from our own seat, to the library."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import platformdirs

from kit.errors import ConfigError
from kit.files import remove_leftovers
from replays.record import GameRecord
from replays.store.library import Closing, Library

KEPT_BACK: Final = 8
"""Writing a record needs one at a time; Python needs a few more if it imports a module for it."""


class SpareDescriptors:
    """Holds some descriptors open, and releases them while an important file is written."""

    def __init__(self) -> None:
        self._held: list[int] = []
        self._take()
        weakref.finalize(self, _close, self._held)

    @contextlib.contextmanager
    def given_back(self) -> Iterator[None]:
        """Release the descriptors for the duration of the block, so that this many files can be opened."""
        _close(self._held)
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        with contextlib.suppress(OSError):  # none free; try again next time
            while len(self._held) < KEPT_BACK:
                self._held.append(os.open(os.devnull, os.O_RDONLY))


def _close(held: list[int]) -> None:
    while held:
        os.close(held.pop())


class RecordKeeper:
    """One library for two sources on different threads."""

    def __init__(self, folder: Path) -> None:
        self._library = Library(folder, others=emergency_folders)
        self._lock = threading.Lock()
        self._spare = SpareDescriptors()

    def check(self) -> None:
        """Check before a game begins that its record can be written.

        Raises:
            ConfigError: it cannot be written.
        """
        folder = self._library.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            remove_leftovers(folder)
        except OSError as exc:
            raise ConfigError(
                f"records.folder: cannot write to {folder} ({exc.strerror}); make it writable or name another"
            ) from exc

    def keep(self, record: GameRecord) -> Path | None:
        """Save a game; return its path, or None if it is only in memory. Never raises for disk errors."""
        with self._lock, self._spare.given_back():
            return self._library.keep(record)

    def late(self, game_id: str) -> Path | None:
        """The path of a record that could not be written at first, None if it still cannot."""
        return self._library.late.get(game_id)

    def close(self) -> Closing:
        """Save pending records: try the folder once more, then the emergency folders."""
        with self._lock, self._spare.given_back():
            return self._library.close()


def emergency_folders() -> Iterator[Path]:
    """Folders for records that cannot be written to theirs: our state folder, then the temporary folder."""
    yield Path(platformdirs.user_state_path("suzaku")) / "rescued"
    user = os.getuid() if hasattr(os, "getuid") else 0
    temporary = Path(tempfile.gettempdir()) / f"suzaku-rescued-{user}"
    try:
        temporary.mkdir(mode=0o700, exist_ok=True)
        is_ours = not temporary.is_symlink() and temporary.stat().st_uid == user
    except OSError:
        return
    if is_ours:  # the temporary folder is shared: another user may have created it
        yield temporary


def closing_text(closing: Closing, folder: Path) -> str:
    """Reports the games that could not be written to the library's folder; empty if there are none."""
    lines = []
    if closing.rescued:
        where = " and ".join(sorted({str(path.parent) for path in closing.rescued}))
        lines.append(
            f"{_games(len(closing.rescued))} could not be completely written to {folder} ({closing.reason}); "
            f"saved in {where}"
        )
    if closing.lost:
        lines.append(
            f"{_games(len(closing.lost))} could not be written anywhere, or only in part ({closing.reason}): "
            + ", ".join(closing.lost)
        )
    return "\n".join(lines)


def _games(count: int) -> str:
    return f"{count} game{'s' if count > 1 else ''}"
