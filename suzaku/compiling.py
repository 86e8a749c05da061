"""Says on stderr, by `logging`, that kernels are being compiled, which takes minutes once."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import Final

from kit.jit import watched_compiler

_EVERY_S: Final = 10.0
_log: Final = logging.getLogger("suzaku")


class _Notices:
    """A line at the first kernel, and one every few seconds while there are more."""

    def __init__(self) -> None:
        self._compiled, self._next_s = 0, 0.0

    def __call__(self, name: str) -> None:
        """Note that a kernel is about to be compiled."""
        if not self._compiled:
            _log.warning(
                "Suzaku compiles its kernels, when they are first used and after updates: "
                "half a minute to two minutes on two free cores"
            )
            self._next_s = time.monotonic() + _EVERY_S
        self._compiled += 1
        if time.monotonic() >= self._next_s:
            _log.warning("kernel %d: %s", self._compiled, name)
            self._next_s = time.monotonic() + _EVERY_S


_watching: Final = contextlib.ExitStack()
"""For as long as the program runs."""
_watching.enter_context(watched_compiler(_Notices()))
