"""Takes finished games from the embedded lobby and from our own seat, and puts them into the library."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from bot.descriptors import SpareDescriptors
from game.errors import ConfigError
from replays.library import Library
from replays.record import GameRecord


class Records:
    """One library for two sources, which come from different threads."""

    def __init__(self, folder: Path) -> None:
        self._library = Library(folder)
        self._lock = threading.Lock()
        self._spare = SpareDescriptors()

    def check(self) -> None:
        """Make sure, before a game begins, that its record can be written.

        Raises:
            ConfigError: it cannot.
        """
        folder = self._library.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as exc:
            raise ConfigError(
                f"records.folder: cannot write to {folder} ({exc.strerror}); make it writable or name another"
            ) from exc

    def keep(self, record: GameRecord) -> Path | None:
        """Save a game; where it lies, or None if only in memory. Never raises for a disk that refuses."""
        with self._lock, self._spare.given_back():
            return self._library.keep(record)
