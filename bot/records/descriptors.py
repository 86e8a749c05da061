"""Reserved file descriptors for files that must be written even when all others are in use."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator
from typing import Final

KEPT_BACK: Final = 8
"""Writing a record needs one at a time; Python needs a few more if it imports a module for it."""


class SpareDescriptors:
    """Holds some descriptors open, and releases them while an important file is written.

    Args:
        count: how many to hold; fewer if the system has fewer left.
    """

    def __init__(self, count: int = KEPT_BACK) -> None:
        self._count = count
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
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY))


def _close(held: list[int]) -> None:
    while held:
        os.close(held.pop())
