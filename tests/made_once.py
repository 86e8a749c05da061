"""What takes seconds to make, made once for all processes of a test run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.files import locked_file


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of a name, for reading; the first process that asks for it makes it, and others wait."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made" / name
    folder.parent.mkdir(exist_ok=True)
    with locked_file(folder.with_name(f"{name}.lock"), patience_s=600.0):
        if not folder.exists():
            begun = folder.with_name(f"{name}.begun")
            shutil.rmtree(begun, ignore_errors=True)
            begun.mkdir()
            make(begun)
            begun.rename(folder)
    return folder
