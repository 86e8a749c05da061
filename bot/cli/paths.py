"""Files and folders named on the command line, checked before use.

Each function reads an option or argument: it takes the user's text, with ``~`` for a home folder, and returns
the path, or raises a `ValueError` that says why the path cannot be used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NoReturn

from kit.files import expand_home
from policies.nets.identities import split_identity

_SHOWN: Final = 100
"""Characters of a path that a message repeats."""


def existing_folder(text: str) -> Path:
    """An existing folder."""
    path = _existing(text)
    return path if path.is_dir() else _refuse(text, "a file, expected a folder")


def existing_checkpoints(text: str) -> Path:
    """An existing folder of checkpoints, also as asked to play like a player, ``FOLDER@NAME``."""
    path = _path(text)
    if split_identity(path)[1]:
        existing_folder(str(split_identity(path)[0]))
        return path
    return existing_folder(text)


def existing_path(text: str) -> Path:
    """An existing file or folder."""
    return _existing(text)


def output_folder(text: str) -> Path:
    """A folder to write to; it is created with the first file written."""
    path = _path(text)
    nearest = next((place for place in (path, *path.parents) if place.exists()), path)
    if nearest.exists() and not nearest.is_dir():
        _refuse(text, f"`{nearest}` is a file, so no folder can be created there")
    return path


def output_file(text: str) -> Path:
    """A file to write, in an existing folder."""
    path = _path(text)
    if path.is_dir():
        _refuse(text, "a folder, expected the name of a file to write")
    if not path.parent.is_dir():
        _refuse(text, f"no folder `{path.parent}`; create it first, or name another")
    return path


def _existing(text: str) -> Path:
    path = _path(text)
    return path if path.exists() else _refuse(text, "no such file or folder")


def _path(text: str) -> Path:
    """The path of a text, if the system allows such a name."""
    if not text.strip():
        _refuse(text, "expected the name of a file or folder")
    try:
        path = expand_home(text)
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path
    except OSError as exc:
        _refuse(text, exc.strerror or type(exc).__name__)
    except ValueError as exc:
        _refuse(text, str(exc))
    return path


def _refuse(text: str, why: str) -> NoReturn:
    from bot.logs.redaction import clean_text

    shown = clean_text(text)
    raise ValueError(f"`{shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}`: {why}")
