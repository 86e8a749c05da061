"""The life of a process that answers without a policy, and so starts quickly."""

from __future__ import annotations

import os
import signal
import time

from kit.workers.child import Line


def moody(line: Line, _: object) -> None:
    """Answers questions with themselves, hangs, or dies."""
    line.ready()
    while True:
        for body in line.hear(wait=True):
            if body == b"hang":
                time.sleep(600.0)
            if body == b"die":
                os.kill(os.getpid(), signal.SIGKILL)
            line.send((200, body))
