"""What compiled code depends on: the sources of a module, as a key that changes whenever one of them does.

Reading and hashing the sources of all kernels takes half a second. A stamp in the cache therefore keeps a key
together with the state of each file it was made from, and is used while no state has changed. As in git's
index, a file that changed a moment ago gets no stamp: a second change within the resolution of the file
system's clock could leave the same state.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import sys
import time
from pathlib import Path
from typing import Final, TypeAlias

import llvmlite
import msgspec
import numba
import numpy as np

from kit.cache import cache_folder, read_checked, write_checked

OWN_PACKAGES: Final = ("kit", "game", "policies", "replays", "learning", "bot")

_SETTLED_S: Final = 3.0
"""The coarsest clock of a file system, FAT's, has a resolution of two seconds."""
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))", re.MULTILINE
)

State: TypeAlias = tuple[int, int, int, int]
"""Of a file or folder: size, inode, and the times of its last change and of its metadata's, nanoseconds."""


class _Stamp(msgspec.Struct, frozen=True):
    """A key, and the states of the files it was made from and of their folders, where more may appear."""

    key: str
    states: dict[str, State]


def sources_key(source: Path, module: str) -> str:
    """Hash of everything a kernel's code depends on: its module, our modules it imports, and the compilers.

    Args:
        source: File of the module.
        module: Its dotted name.

    Returns:
        Hexadecimal digits; empty if a source cannot be read.
    """
    if module == "__main__" or not source.is_file():
        return ""
    source = source.resolve()
    root = source.parents[module.count(".") + (source.name == "__init__.py")]
    place = hashlib.sha256(repr((_compilers(), str(source))).encode()).hexdigest()[:16]
    stamp = cache_folder() / "stamps" / f"{module}-{place}.json"
    key = _stamped(stamp)
    if key is None:
        began = time.time()
        key, states = _read_key(source, root)
        if key and all(max(state[2:]) < (began - _SETTLED_S) * 1e9 for state in states.values()):
            write_checked(stamp, msgspec.json.encode(_Stamp(key, states)))
    return key


def _stamped(stamp: Path) -> str | None:
    """The key of a stamp, None if there is none or a file has changed."""
    data = read_checked(stamp)
    if data is None:
        return None
    try:
        kept = msgspec.json.decode(data, type=_Stamp)
        valid = all(_state(path) == state for path, state in kept.states.items())
    except (OSError, msgspec.MsgspecError):
        return None
    return kept.key if valid else None


def _state(path: str) -> State:
    found = os.stat(path)  # noqa: PTH116 - a path object takes longer than the call, and there are thousands
    return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _read_key(source: Path, root: Path) -> tuple[str, dict[str, State]]:
    """The key from the sources themselves, and their states before they were read."""
    waiting, texts, states = [source], dict[Path, str](), dict[str, State]()
    try:
        while waiting:
            path = waiting.pop()
            if path not in texts:
                for each in {path, path.parent} - {root}:
                    states.setdefault(str(each), _state(str(each)))
                texts[path] = path.read_text(encoding="utf-8")
                waiting.extend(_imports(path, texts[path], root))
    except (OSError, UnicodeDecodeError):
        return "", {}
    parts = [(path.relative_to(root).as_posix(), texts[path]) for path in sorted(texts)]
    return hashlib.sha256(repr((*_compilers(), parts)).encode()).hexdigest()[:16], states


def _compilers() -> tuple[tuple[str, ...], list[str | None]]:
    """What compiles, for which machine, and how."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, platform.machine())
    return versions, [os.environ.get(name) for name in ("NUMBA_OPT", "NUMBA_BOUNDSCHECK")]


def _imports(path: Path, text: str, root: Path) -> list[Path]:
    """Files of our own modules that a source imports anywhere."""
    found = []
    for base, names in _named(text):
        start = _absolute(base, path, root)
        for name in (start, *(f"{start}.{each}" for each in names)):
            if name.split(".")[0] in OWN_PACKAGES:
                found.extend(_files(name, root))
    return found


@functools.cache  # many modules with kernels import the same ones
def _named(text: str) -> list[tuple[str, list[str]]]:
    """The modules that a source imports, each with the names it takes from it."""
    found: list[tuple[str, list[str]]] = []
    for base, names, plain in _IMPORT.findall(text):
        if base:
            found.append((base, re.findall(r"\w+", names)))
        found += [(item.split()[0], []) for item in plain.split(",") if item.split()]
    return found


def _absolute(base: str, path: Path, root: Path) -> str:
    level = len(base) - len(base.lstrip("."))
    if level == 0:
        return base
    parts = path.relative_to(root).parts[:-level]
    return ".".join((*parts, base[level:])).strip(".")


def _files(dotted: str, root: Path) -> list[Path]:
    place = root.joinpath(*dotted.split("."))
    packages = [
        root.joinpath(*dotted.split(".")[:end]) / "__init__.py" for end in range(1, dotted.count(".") + 2)
    ]
    return [file for file in (place.with_suffix(".py"), *packages) if file.is_file()]
