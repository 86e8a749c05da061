"""How a run is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def signals_call(finish: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls ``finish``, every further one, and a request to terminate, ``stop``."""
    asked = False

    def interrupt() -> None:
        nonlocal asked
        if asked:
            stop()
        else:
            asked = True
            finish()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
