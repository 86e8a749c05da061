from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from kit.files import LEFT_S
from policies.checkpoint import load, save
from tests.policies.checkpoint.saver import LAST_OF_THE_FIRST, numbered
from tests.scale import scaled

KILLS: Final = scaled(12, 40)
STEPS: Final = 40
"""A save has more."""
LONGEST_S: Final = 0.02
"""A few saves."""


class Saver:
    """The process that saves, and its forked child."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "tests.policies.checkpoint.saver", str(folder)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.last = {"begin": 0, "end": 0}
        while self.last["end"] < LAST_OF_THE_FIRST:
            self.listen()
        self.last_whole = self.number()

    def order(self, text: str) -> int:
        """Start a forked process that continues from the checkpoint on disk; its pid."""
        assert self.process.stdin
        self.last = {"begin": self.last_whole, "end": self.last_whole}
        self.process.stdin.write(f"{text} {self.last_whole + 1}\n")
        self.process.stdin.flush()
        heard = ""
        while not heard.startswith("pid"):
            heard = self.listen()
        return int(heard.split()[1])

    def ends(self) -> str:
        """How the forked process ended: dead or done."""
        heard = ""
        while heard not in ("dead", "done"):
            heard = self.listen()
        return heard

    def listen(self) -> str:
        """Read one line of output, and record which saves have begun and ended."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the saver has ended"
        word, *rest = line.split()
        if word in self.last:
            self.last[word] = int(rest[0])
        return line.strip()

    def number(self) -> int:
        """The number of the checkpoint on disk, which must be complete."""
        found = load(self.folder, "discard")
        number = int(found.card.metrics["accuracy"])
        assert all(bool((tensor == number).all()) for tensor in found.arrays.values())
        self.last_whole = number
        return number


@pytest.fixture(scope="module")
def saver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saver]:
    found = Saver(tmp_path_factory.mktemp("saver"))
    with found.process as process:
        yield found
        assert process.stdin
        process.stdin.close()


def test_killed_at_any_moment_the_old_or_the_new_one_is_there(saver: Saver) -> None:
    dice = random.Random(18)
    within = 0
    for _ in range(KILLS):
        child = saver.order("loop")
        while saver.last["begin"] == saver.last["end"]:
            saver.listen()
        time.sleep(dice.uniform(0, LONGEST_S))
        os.kill(child, signal.SIGKILL)
        assert saver.ends() == "dead"
        before, after = saver.last["end"], saver.last["begin"]
        assert before <= saver.number() <= after <= before + 1
        within += before < after
    assert within > KILLS // 4


def test_killed_before_each_step_of_a_save_the_old_or_the_new_one_is_there(saver: Saver) -> None:
    seen = set()
    for step in count(1, scaled(17, 1)):
        old = saver.last_whole
        saver.order(f"step {step}")
        how = saver.ends()
        seen.add(saver.number() - old)
        if how == "done":
            break
    assert step > STEPS
    assert seen == {0, 1}
    # a save removes the leftovers of killed ones when they are too old to be of a running one
    for path in saver.folder.iterdir():
        os.utime(path, (time.time() - 2 * LEFT_S,) * 2)
    save(saver.folder, *numbered(999))
    assert len(list(saver.folder.iterdir())) == 4
