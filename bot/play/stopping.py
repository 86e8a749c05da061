"""Stopping a run by Ctrl-C, and by the signals that the program turns into it (`bot.cli`)."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def signals_call(finish: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Call ``finish`` on the first Ctrl-C, and ``stop`` on every further one."""
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
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
