"""Sees to it that no external engine outlives the process that started it, however that one ends.

Run as a script, it is told of process groups on its input, ``+GROUP`` and ``-GROUP``, a line each. When its
input ends it kills those that are left: a process that is itself killed has no chance to. Groups, because
an engine may be a shell or a launcher with the real one below it.
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
"""Engines read the end of their input at the same moment, and may leave by themselves."""


class Warden:
    """The script, running; it costs a process of a few megabytes."""

    def __init__(self) -> None:
        # apart from our own group, so that Ctrl-C does not take it along
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # it has no logs and says nothing
            bufsize=0,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """Kill this group if we are gone."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """It is gone already."""
        self._tell(f"-{group}\n")

    def dismiss(self) -> None:
        """End the script, and whoever it still watches."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # killed by somebody: nothing to be done about that here
            self._process.stdin.write(line.encode())


def kill_group(group: int) -> None:
    """End a process group, if there still is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def left_over(lines: Iterable[str]) -> set[int]:
    """The groups that were told of and not taken back.

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
