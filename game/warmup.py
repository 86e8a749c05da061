"""Compile every kernel before a game needs one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

KERNEL_MODULES: Final = ("game.shanten",)
"""Modules of this package whose ``warm_up()`` calls their kernels once, with the types a game gives them."""


def warm_up(
    progress: Callable[[str, int, int], None] | None = None, modules: Sequence[str] = KERNEL_MODULES
) -> None:
    """Load all kernels, or compile them, which takes the better part of a minute at the first start.

    Args:
        progress: Called with the name of the module at work, the number of those finished, and of all; once
            more at the end with an empty name.
        modules: Modules to warm up, in order; floors above this one add theirs.
    """
    for done, name in enumerate(modules):
        if progress:
            progress(name, done, len(modules))
        import_module(name).warm_up()
    if progress:
        progress("", len(modules), len(modules))
