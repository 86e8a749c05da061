"""Files of the cache: written whole or not at all, and only the newest versions kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit.cache import prune, read_checked, write_checked


def test_only_the_newest_cache_of_older_sources_is_kept(tmp_path: Path) -> None:
    for age in range(6):
        folder = tmp_path / f"game.fold-{age}"
        folder.mkdir()
        (folder / "form.bin").write_bytes(b"")
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "game.fold_other-9").mkdir()
    prune(tmp_path / "game.fold-5")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"game.fold-5", "game.fold-0", "game.fold-1", "game.fold-2", "game.fold_other-9"}


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.bin"
    write_checked(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert not write_checked(path, b"new")
    assert read_checked(path) == b"old"
    assert list(tmp_path.iterdir()) == [path]
