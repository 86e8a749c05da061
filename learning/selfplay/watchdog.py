"""Ensures that no external engine outlives the process that started it, however that process ends.

Run as a script, it reads the process groups to watch from its input, ``+GROUP`` and ``-GROUP``, one per line.
When its input ends, it kills the remaining groups; a process that is itself killed could not do so. It works
on groups because an engine may be a shell or a launcher that starts the real one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Final

_GRACE_S: Final = 0.5
"""Engines see the end of their input at the same moment, and may exit by themselves."""


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

    def watch(self, group: int) -> None:
        """Kill this group if our process ends."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Stop watching this group, which has ended."""
        self._tell(f"-{group}\n")

    def dismiss(self) -> None:
        """End the script, and every group it still watches."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # somebody killed the script
            self._process.stdin.write(line.encode())


def kill_group(group: int) -> None:
    """End a process group, if it still exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def left_over(lines: Iterable[str]) -> set[int]:
    """The groups that were added and not removed.

    >>> left_over(["+12", "+7", "-12"])
    {7}
    """
    groups: set[int] = set()
    for line in lines:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    return groups


if __name__ == "__main__":
    remaining = left_over(sys.stdin)
    if remaining:
        time.sleep(_GRACE_S)
    for one in remaining:
        kill_group(one)
