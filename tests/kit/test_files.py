"""Atomic file replacement, by several writers at once and by killed ones."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kit import files
from kit.files import check_hash, expand_home, remove_leftovers, replace_file, replace_hashed, replacing


def test_two_concurrent_writers_leave_one_complete_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_written = threading.Barrier(2, timeout=10)
    flush = os.fsync

    def flush_together(handle: int) -> None:
        if not os.path.samestat(os.fstat(handle), tmp_path.stat()):
            both_have_written.wait()
        flush(handle)

    monkeypatch.setattr(os, "fsync", flush_together)
    path = tmp_path / "file"
    contents = (b"a" * 10_000, b"b" * 20_000)
    with ThreadPoolExecutor(2) as writers:
        for writing in [writers.submit(replace_file, path, data) for data in contents]:
            writing.result()
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_only_old_leftovers_of_killed_writers_are_removed(tmp_path: Path) -> None:
    for name in ("a.xml.0123456789ab.tmp", "a.xml", "a.tmp", "0123456789ab.tmp.xml"):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    (tmp_path / "b.xml.0123456789ab.tmp").write_text("")
    remove_leftovers(tmp_path)
    left = {"a.xml", "a.tmp", "0123456789ab.tmp.xml", "b.xml.0123456789ab.tmp"}
    assert {path.name for path in tmp_path.iterdir()} == left
    remove_leftovers(tmp_path / "gone")


@pytest.mark.parametrize(
    ("text", "why"), [("a\0b", "NUL"), ("~nobody-by-this-name/x", "no home folder is known")]
)
def test_what_is_no_path_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        expand_home(text)


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old", mode=0o600)
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("whole", range(3), ids=["before", "hash written", "file replaced"])
def test_a_hashed_file_fits_its_hash_wherever_the_writer_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    path = tmp_path / "state"
    replace_hashed(path, b"old")
    left = [whole]

    def stopped(*args: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        replace_file(*args)

    for data in (b"new", b"newer"):
        left[0] = whole
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
            patch.setattr(files, "replace_file", stopped)
            replace_hashed(path, data)
        check_hash(path)
    assert path.read_bytes() == (b"newer" if whole == 2 else b"old")
    path.write_bytes(b"other")
    with pytest.raises(ValueError, match="damaged"):
        check_hash(path)


def test_a_file_of_before_there_were_hashes_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"old")
    check_hash(tmp_path / "state")
    replace_hashed(tmp_path / "state", b"new")
    check_hash(tmp_path / "state")
