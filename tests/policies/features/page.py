"""The tables of `docs/features.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

PAGE: Final = (Path(__file__).parents[3] / "docs" / "features.md").read_text(encoding="utf-8")


class Row(NamedTuple):
    """A group as the page describes it."""

    group: str
    planes: str
    index: str
    values: str
    tiles: str
    mirrors: str
    content: str


def section(name: str) -> str:
    """What the page says of a set."""
    return PAGE.partition(f"\n## `{name}`\n")[2].partition("\n## ")[0]


def rows(name: str) -> list[Row]:
    """The groups of a set on the page."""
    lines = [line for line in section(name).splitlines() if line.startswith("| ")]
    return [Row(*line.strip("| ").split(" | ")) for line in lines[2:]]
