from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Final

from kit.files import LEFT_S
from policies.checkpoint.store import load
from tests.policies.checkpoint.saver import save_number
from tests.scale import scaled

STEPS: Final = 40
"""A save has more."""


def number_in(folder: Path) -> int:
    """The number of the checkpoint on disk, which must be complete."""
    found = load(folder, "discard")
    number = int(found.card.metrics["accuracy"])
    assert all(bool((tensor == number).all()) for tensor in found.arrays.values())
    return number


def test_killed_before_each_step_of_a_save_the_old_or_the_new_one_is_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.policies.checkpoint.saver", str(tmp_path)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    for number in range(2):
        save_number(tmp_path, number)
    seen = set()
    with subprocess.Popen(command, text=True, env=environment, **pipes) as saver:
        assert saver.stdin
        assert saver.stdout
        for step in count(1, scaled(17, 1)):
            old = number_in(tmp_path)
            saver.stdin.write(f"{step} {old + 1}\n")
            saver.stdin.flush()
            how = saver.stdout.readline()
            assert how in ("dead\n", "done\n")
            seen.add(number_in(tmp_path) - old)
            if how == "done\n":
                break
        saver.stdin.close()
    assert step > STEPS
    assert seen == {0, 1}
    # a save removes the leftovers of killed ones when they are too old to be of a running one
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() - 2 * LEFT_S,) * 2)
    save_number(tmp_path, 999)
    assert len(list(tmp_path.iterdir())) == 4
