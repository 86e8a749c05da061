"""Names of checkpoints with the identity that a conditioned network plays as: ``FOLDER@NAME``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MARK: Final = "@"
"""Between a folder of checkpoints and the player that its models are conditioned on."""


def split_identity(folder: Path) -> tuple[Path, str]:
    """A folder of checkpoints, and the player that ``FOLDER@NAME`` names; "" if it names none.

    >>> split_identity(Path("sets/players@7-dan"))
    (PosixPath('sets/players'), '7-dan')
    >>> split_identity(Path("sets/players@"))
    (PosixPath('sets/players@'), '')
    """
    name, _, identity = folder.name.rpartition(MARK)
    return (folder.with_name(name), identity) if identity and name and not folder.is_dir() else (folder, "")
