"""Names of checkpoints that answer as if another player were asked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MARK: Final = "@"
"""Between a folder of checkpoints and the player that its models are asked to play like."""


def divided(folder: Path) -> tuple[Path, str]:
    """A folder of checkpoints, and the player that ``FOLDER@NAME`` names; "" if it names none.

    >>> divided(Path("sets/players@7-dan"))
    (PosixPath('sets/players'), '7-dan')
    """
    name, mark, identity = folder.name.rpartition(MARK)
    return (folder.with_name(name), identity) if mark and name and not folder.is_dir() else (folder, "")
