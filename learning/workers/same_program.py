"""Checks that another machine runs the same program; otherwise its games would differ."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypeAlias

Program: TypeAlias = Mapping[str, str]
"""Everything that influences results, by name: our sources, and the numeric libraries."""

_OWN: Final = ("game", "policies", "replays", "learning")
_LIBRARIES: Final = ("mahjong", "numba", "numpy", "riichienv", "torch")


def program() -> Program:
    """The program of this process."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(path for package in _OWN for path in (root / package).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    # the part after a plus sign names a build, such as torch's CPU-only one
    libraries = {name: version(name).split("+")[0] for name in _LIBRARIES}
    return {"suzaku": digest.hexdigest()[:12], **libraries}


def differences(wanted: Program, found: Program) -> str:
    """The differences as text; "" if there are none.

    >>> differences({"suzaku": "0a1b", "torch": "2.13.0"}, {"suzaku": "0a1b", "torch": "2.13.1"})
    'torch is 2.13.1, not 2.13.0'
    """
    return ", ".join(
        f"{name} is {found.get(name, 'missing')}, not {wanted[name]}"
        for name in wanted
        if found.get(name) != wanted[name]
    )
