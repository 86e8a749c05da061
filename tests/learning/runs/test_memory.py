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
torch.zeros(25_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.zeros(24_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(word: str) -> int:
    """Pages cleared for a tensor hardly smaller than one just freed."""
    command = [sys.executable, "-c", SCRIPT, word]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_a_large_tensor_gets_the_memory_of_another() -> None:
    assert faults("keep") < 1000 < faults("leave")


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_another_library_is_left_as_it_is(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr("learning.runs.memory.ctypes.CDLL", refuse)
    assert not keep_freed_memory()
