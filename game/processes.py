"""Setup that every process we start runs first, such as configuring its logs.

A spawned process inherits none of its parent's settings. Code that makes a process-wide setting registers it
here; code that starts processes passes `startup` along and calls it first in each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

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
