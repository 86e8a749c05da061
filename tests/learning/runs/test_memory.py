"""Freed memory is kept, seen by the pages that the system must clear."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from learning.runs.memory import keep_freed_memory

SCRIPT = """
import resource, sys
import torch
from learning.runs.memory import keep_freed_memory

if sys.argv[1] == "keep":
    assert keep_freed_memory()
for _ in range(2):
    torch.zeros(25_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.zeros(25_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(word: str) -> int:
    """Pages cleared for a tensor as large as one that was freed."""
    command = [sys.executable, "-c", SCRIPT, word]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_a_large_tensor_gets_the_memory_of_the_last_one() -> None:
    faults = {
        word: int(
            subprocess.run([sys.executable, "-c", SCRIPT, word], capture_output=True, check=True).stdout
        )
        for word in ("keep", "leave")
    }
    assert faults["keep"] < 100 < faults["leave"]


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_another_library_is_left_as_it_is(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr("learning.runs.memory.ctypes.CDLL", refuse)
    assert not keep_freed_memory()
