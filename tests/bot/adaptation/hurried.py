"""Processes that step back for a game get their time all the same, where a test waits for them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

LOOK_S = 0.05


@contextlib.contextmanager
def hurried() -> Iterator[set[int]]:
    """Meanwhile, a child that takes only idle time is let go on like others, where that is allowed.

    Yields:
        The children that took only idle time, as they are found.
    """
    found: set[int] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            for child in _children():
                with contextlib.suppress(OSError):
                    if os.sched_getscheduler(child) == os.SCHED_IDLE:
                        found.add(child)
                        os.sched_setscheduler(child, os.SCHED_OTHER, os.sched_param(0))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield found
    finally:
        over.set()
        looking.join()


def _children() -> list[int]:
    found: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it may have ended
            found += map(int, (thread / "children").read_text().split())
    return found
