"""A run that is asked to stop, or killed."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from learning.runs.learner import Descent


def stop_at(patch: pytest.MonkeyPatch, step: int, owner: type = Descent, name: str = "step") -> None:
    """Press Ctrl-C at a step of learning: at so many calls of a method."""
    left, real = [step], getattr(owner, name)

    def counted(*args: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*args)

    patch.setattr(owner, name, counted)


def killed_in_a_write(module: Any, name: str, writes: int, run: Callable[[], object]) -> int:
    """Run in a forked process that is killed, kill -9, in the middle of a write; its exit code.

    Args:
        module: where the run finds the function that writes.
        name: that function.
        writes: writes before the one that is cut.
        run: what is killed.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left, real = itertools.count(writes, -1), getattr(module, name)

    def write(path: Path, data: bytes) -> None:
        if next(left) <= 0:
            path.with_name(path.name + ".0123456789ab.tmp").write_bytes(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        real(path, data)

    setattr(module, name, write)
    try:
        run()
    finally:
        os._exit(1)
