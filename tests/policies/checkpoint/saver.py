"""Saves checkpoints and is killed: ``python -m tests.policies.checkpoint.saver FOLDER``.

Each input line, ``STEP NUMBER``, starts a process that saves checkpoint NUMBER and is killed before its
STEP-th step. The output says how it ended: ``dead`` or ``done``.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

from kit import files
from policies.checkpoint import store
from policies.checkpoint.store import save
from tests.policies.checkpoint.saved import small_card, weights

WATCHED: Final = (store.__file__, files.__file__)

LONGEST_S: Final = 300


def save_number(folder: Path, number: int) -> None:
    """Save a checkpoint whose card and weights both contain its number."""
    card = small_card(metrics={"accuracy": float(number)})
    save(folder, card, {name: np.full_like(array, number) for name, array in weights(card).items()})


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


def main() -> None:
    for line in sys.stdin:
        step, number = map(int, line.split())
        child = os.fork()
        if child == 0:
            signal.alarm(LONGEST_S)  # ends it if it is never killed
            die_at(step)
            save_number(Path(sys.argv[1]), number)
            os._exit(0)
        dead = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        print("dead" if dead else "done", flush=True)


if __name__ == "__main__":
    main()
