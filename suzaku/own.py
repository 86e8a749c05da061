"""Keeps our packages apart from modules of the same names, such as a ``game.py`` beside a notebook."""

from __future__ import annotations

import sys
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = ("kit", "game", "policies", "replays", "learning", "bot")
_ROOT: Final = Path(__file__).resolve().parents[1]


def claim() -> None:
    """Load our packages from the folder of this one, even if modules of the same names are found earlier.

    The packages themselves are empty: their modules are loaded when they are used.

    Warns:
        UserWarning: a module of the program has the name of one of them, and can no longer be imported.

    Raises:
        ImportError: such a module has been imported before.
    """
    for name in PACKAGES:
        loaded = sys.modules.get(name)
        if loaded is None:
            _load(name)
        elif _ROOT / name not in {Path(each).resolve() for each in getattr(loaded, "__path__", ())}:
            where = getattr(loaded, "__file__", None) or f"a module {name!r}"
            raise ImportError(
                f"{where} has the name of Suzaku's package {name!r}, and was imported first: rename it, "
                "or use Suzaku in a program without it",
                name=name,
            )


def _load(name: str) -> None:
    found, ours = PathFinder.find_spec(name), PathFinder.find_spec(name, [str(_ROOT)])
    assert ours is not None
    assert ours.loader is not None
    if found is not None and (file := _file(found)) != _file(ours):
        warnings.warn(
            f"{file} has the name of Suzaku's package {name!r}, which `import {name}` gives from now on: "
            "rename it if you import it",
            stacklevel=4,
        )
    sys.modules[name] = module = module_from_spec(ours)
    ours.loader.exec_module(module)


def _file(spec: ModuleSpec) -> Path:
    """The file of a module, or the folder of a package that is no more than a folder."""
    return Path(spec.origin or next(iter(spec.submodule_search_locations or ()))).resolve()
