"""Kernels compiled by other processes, beside a program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from game.warmup import compile_later


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started."""
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def keep(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        processes.append(start(*arguments, **options))  # type: ignore[call-overload]
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", keep)
    return processes


def test_kernels_are_compiled_later_by_another_process(started: list[subprocess.Popen[bytes]]) -> None:
    compile_later(["game.table.endings"])
    [process] = started
    assert process.wait(timeout=300) == 0


def test_nothing_is_compiled_for_others_where_it_cannot_be_kept(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path / "file"))
    compile_later(["game.table.endings"])
    assert started == []
