"""Whether another machine runs the same program: only then are the same games played there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypeAlias

Program: TypeAlias = Mapping[str, str]
"""What decides over results, by name: our sources, and the libraries that compute."""

_OWN: Final = ("game", "policies", "replays", "learning")
_LIBRARIES: Final = ("mahjong", "numba", "numpy", "riichienv", "torch")


def program() -> Program:
    """What runs here."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(path for package in _OWN for path in (root / package).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    # what follows a plus sign names a build, such as torch's for the CPU alone
    libraries = {name: version(name).split("+")[0] for name in _LIBRARIES}
    return {"suzaku": digest.hexdigest()[:12], **libraries}


def differences(wanted: Program, found: Program) -> str:
    """What is not the same, in words; "" if everything is.

    >>> differences({"suzaku": "0a1b", "torch": "2.13.0"}, {"suzaku": "0a1b", "torch": "2.13.1"})
    'torch is 2.13.1, not 2.13.0'
    """
    return ", ".join(
        f"{name} is {found.get(name, 'missing')}, not {wanted[name]}"
        for name in wanted
        if found.get(name) != wanted[name]
    )
