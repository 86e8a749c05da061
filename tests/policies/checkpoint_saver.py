"""Saves checkpoints until it is killed: ``python -m tests.policies.checkpoint_saver FOLDER``.

Each line on its input starts a process that saves checkpoints from a number on: ``loop NUMBER`` for ever,
``step N NUMBER`` only that one, and it kills itself before the N-th thing it does to the folder. What is said
are the process's pid, when each save begins and ends, and how the process ended, ``dead`` or ``done``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from policies.checkpoint import Card, save
from tests.policies.saved import small_card, weights

TOUCHES: Final = ("open", "os.mkdir", "os.rename", "os.remove")
"""Audit events of what changes a folder, and of reading from it."""

LAST_OF_THE_FIRST: Final = 1
"""Number of the last checkpoint that is saved before the first order."""


def numbered(number: int) -> tuple[Card, dict[str, Tensor]]:
    """A checkpoint whose card and weights both tell its number."""
    card = small_card(metrics={"accuracy": float(number)})
    return card, {name: torch.full_like(tensor, number) for name, tensor in weights(card).items()}


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def save_on(folder: Path, numbers: Iterable[int]) -> None:
    for number in numbers:
        card, state = numbered(number)
        say(f"begin {number}")
        save(folder, card, state)
        say(f"end {number}")


def die_at(step: int, folder: Path) -> None:
    steps = count(1)

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in TOUCHES and str(args[0]).startswith(str(folder)) and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def work(folder: Path, order: str, number: int) -> None:
    """What a forked process does."""
    if order == "loop":
        save_on(folder, count(number))
    die_at(int(order.removeprefix("step ")), folder)
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
