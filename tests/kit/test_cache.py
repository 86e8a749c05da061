"""Only the newest versions of what is cached are kept."""

from __future__ import annotations

import os
from pathlib import Path

from kit.cache import prune


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
