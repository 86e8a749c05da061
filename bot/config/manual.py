"""The configuration manual: `config.yaml` with every setting, its default and its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_NAME: Final = "config.yaml"


def manual_text() -> str:
    """The manual, from beside this module in an installation, else from the root of the checkout."""
    here = Path(__file__).with_name(_NAME)
    return (here if here.exists() else Path(__file__).parents[2] / _NAME).read_text(encoding="utf-8")
