"""What the processes that we start do before anything else, such as setting up their logs.

A spawned process begins with none of its parent's settings. Whoever makes a setting that holds for all of
them says so here; whoever starts processes sends `startup` along and calls it first in each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Startup: TypeAlias = Callable[[], None]
"""Can be pickled: a function of a module's top level, or a `functools.partial` of one."""


def nothing() -> None:
    """What is done where nobody asked for anything."""


_startup: Startup = nothing


def on_start(startup: Startup) -> None:
    """Have every process started from now on call this first."""
    global _startup  # noqa: PLW0603 - a setting of the whole process, as the logs are
    _startup = startup


def startup() -> Startup:
    """What a new process is to call first."""
    return _startup
