"""Takes finished games from the embedded lobby and from our own seat, and puts them into the library."""

from __future__ import annotations

import threading
from pathlib import Path

from replays.library import Library
from replays.record import GameRecord


class Records:
    """One library for two sources, which come from different threads."""

    def __init__(self, folder: Path) -> None:
        self._library = Library(folder)
        self._lock = threading.Lock()

    def keep(self, record: GameRecord) -> Path | None:
        """Save a game; where it lies, or None if only in memory. Never raises for a disk that refuses."""
        with self._lock:
            return self._library.keep(record)
