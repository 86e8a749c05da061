"""Ensures that no external engine outlives the process that started it, however that process ends.

Run as a script, it reads the engines to watch from its input, ``+ENGINE`` and ``-ENGINE``, one per line.
When its input ends, it kills the remaining ones; a process that is itself killed could not do so. An engine
may be a shell or a launcher that starts the real one, so it is a process group, and all processes with a mark
in their environment: those that it has started in other groups.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_GRACE_S: Final = 0.5
"""Engines see the end of their input at the same moment, and may exit by themselves."""
_ROUNDS: Final = 2
"""A process may start another while the first round goes on."""


class Watchdog:
    """Runs the script, in a process of a few megabytes."""

    def __init__(self) -> None:
        # outside our own group, so that Ctrl-C does not end it too
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # it writes no logs and no output
            bufsize=0,
            start_new_session=True,
        )

    def watch(self, engine: str) -> None:
        """Kill this engine if our process ends: its group and its mark, with a space between."""
        self._tell(f"+{engine}\n")

    def forget(self, engine: str) -> None:
        """Stop watching this engine, which has ended."""
        self._tell(f"-{engine}\n")

    def dismiss(self) -> None:
        """End the script, and every engine it still watches."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # somebody killed the script
            self._process.stdin.write(line.encode())


def kill_engine(engine: str) -> None:
    """End the processes of an engine that still exist; without ``/proc`` those of its group."""
    group, _, mark = engine.partition(" ")
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(int(group), signal.SIGKILL)
    for _ in range(_ROUNDS):
        for pid in _marked(mark.encode()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: bytes) -> Iterable[int]:
    """The processes with a mark in their environment."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in environment.read_bytes():
                yield int(environment.parent.name)


def left_over(lines: Iterable[str]) -> set[str]:
    """The engines that were added and not removed.

    >>> left_over(["+12 A", "+7 B", "-12 A"])
    {'7 B'}
    """
    engines: set[str] = set()
    for line in map(str.strip, lines):
        (engines.add if line[0] == "+" else engines.discard)(line[1:])
    return engines


if __name__ == "__main__":
    remaining = left_over(sys.stdin)
    if remaining:
        time.sleep(_GRACE_S)
    for one in remaining:
        kill_engine(one)
