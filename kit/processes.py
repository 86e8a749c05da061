"""Settings of this process, and the setup that every process we start runs first, such as of its logs.

A spawned process inherits none of its parent's settings. Code that makes a process-wide setting registers it
here; code that starts processes passes `startup` along and calls it first in each.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

DROPPED: Final = threading.Event()
"""Set once an interrupt was dropped; what fails from then on was interrupted."""
NICE: Final = 10
_AGAIN_S: Final = 0.05
_GIVEN_WAY: Final = 5
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
"""Numbers of settings in glibc's `mallopt`."""
_LARGEST: Final = 1 << 30
"""Bytes of the largest block that is kept."""

Startup: TypeAlias = Callable[[], None]
"""Can be pickled: a function of a module's top level, or a `functools.partial` of one."""


def nothing() -> None:
    """The default: no setup."""


_startup: Startup = nothing


def on_start(startup: Startup) -> None:
    """Have every process started from now on call this first."""
    global _startup  # noqa: PLW0603 - a setting of the whole process, as the logs are
    _startup = startup


def startup() -> Startup:
    """The function that a new process calls first."""
    return _startup


def interrupt_again() -> None:
    """Repeat an interrupt that Python dropped, as it does in a callback of the compiler, which then fails."""
    DROPPED.set()
    number = signal.SIGTERM if callable(signal.getsignal(signal.SIGTERM)) else signal.SIGINT
    # To the process: one that is raised in the timer's thread would not wake the main thread.
    again = threading.Timer(_AGAIN_S, os.kill, [os.getpid(), number])
    again.daemon = True
    again.start()


def give_way() -> None:
    """Lower this process's priority below that of the process that started it."""
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.nice(_GIVEN_WAY)


def step_back() -> None:
    """Take only the time that other processes leave, from now on.

    Being nice is not enough: with as many busy processes as cores, it was seen to make the game wait 0.1 s.
    """
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.nice(NICE)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def keep_freed_memory() -> bool:
    """Keep freed memory instead of returning it to the system; return whether that is possible.

    glibc returns blocks of 32 MB and more as soon as they are freed, and the system clears their pages again
    for the next step. With tensors of 140 to 670 MB a step then takes twice as long. Other C libraries are
    left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # TypeError: Windows, which has no main program to open
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST) and mallopt(_TRIM_THRESHOLD, -1))
