"""Freed memory is kept, seen by the pages that the system must clear."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from kit.processes import keep_freed_memory

SCRIPT = """
import resource
from kit.processes import keep_freed_memory

def faults():
    b"x" * 100_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    b"x" * 96_000_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults(), keep_freed_memory(), faults())
"""
"""Counts the pages cleared for bytes hardly fewer than those just freed, before and after."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_a_large_object_gets_the_memory_of_another() -> None:
    command = [sys.executable, "-c", SCRIPT]
    left, told, kept = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    assert told == "True"
    assert int(kept) < 1000 < int(left)


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_another_library_is_left_as_it_is(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr("kit.processes.ctypes.CDLL", refuse)
    assert not keep_freed_memory()
