"""Saves checkpoints until it is killed: ``python -m tests.policies.checkpoint.saver FOLDER``.

Each input line starts a process that saves checkpoints from a number on: ``loop NUMBER`` saves for ever,
``step N NUMBER`` saves only that one and is killed before its N-th step. The output reports the pid of the
process, the begin and end of each save, and how the process ended, ``dead`` or ``done``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

from kit import files
from policies.checkpoint import Card, save, store
from policies.nets.architectures import Floats
from tests.policies.checkpoint.saved import small_card, weights

WATCHED: Final = (store.__file__, files.__file__)

LONGEST_S: Final = 300
LAST_OF_THE_FIRST: Final = 1
"""Number of the last checkpoint saved before the first command."""


def numbered(number: int) -> tuple[Card, dict[str, Floats]]:
    """A checkpoint whose card and weights both contain its number."""
    card = small_card(metrics={"accuracy": float(number)})
    return card, {name: np.full_like(array, number) for name, array in weights(card).items()}


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def save_on(folder: Path, numbers: Iterable[int]) -> None:
    for number in numbers:
        card, state = numbered(number)
        say(f"begin {number}")
        save(folder, card, state)
        say(f"end {number}")


def die_at(step: int) -> None:
    """Be killed before the N-th line that changes the folder."""
    steps = count(1)

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in WATCHED:
            return None
        if event == "line" and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return watch

    sys.settrace(watch)


def work(folder: Path, order: str, number: int) -> None:
    """The work of a forked process; if it is never killed, the alarm ends it."""
    signal.alarm(LONGEST_S)
    if order == "loop":
        save_on(folder, count(number))
    die_at(int(order.removeprefix("step ")))
    save_on(folder, [number])


def main() -> None:
    folder = Path(sys.argv[1])
    save_on(folder, range(LAST_OF_THE_FIRST + 1))
    for line in sys.stdin:
        order, number = line.rsplit(maxsplit=1)
        child = os.fork()
        if child == 0:
            work(folder, order, int(number))
            os._exit(0)
        say(f"pid {child}")
        say("dead" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL else "done")


if __name__ == "__main__":
    main()
