"""File descriptors kept back for what must be written, however many are taken by others."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator
from typing import Final

KEPT_BACK: Final = 8
"""A record takes one at a time, and Python some more where it imports a module to write it."""


class SpareDescriptors:
    """Holds some descriptors open; whoever must write gives them back to the system for that time.

    Args:
        count: how many; fewer where there are not as many left.
    """

    def __init__(self, count: int = KEPT_BACK) -> None:
        self._count = count
        self._held: list[int] = []
        self._take()
        weakref.finalize(self, _close, self._held)

    @contextlib.contextmanager
    def given_back(self) -> Iterator[None]:
        """While it lasts, as many files can be opened as are held otherwise."""
        _close(self._held)
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        with contextlib.suppress(OSError):  # others have them; the next time perhaps
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY))


def _close(held: list[int]) -> None:
    while held:
        os.close(held.pop())
