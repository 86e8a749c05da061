"""Plots as small SVG files; equal figures give equal bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(width: float, height: float) -> Figure:
    """An empty figure.

    Args:
        width: in inches.
        height: in inches.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - of the extra `learn`, and slow to import

    return Figure(figsize=(width, height), layout="constrained")


def save(drawing: Figure, path: Path) -> None:
    """Write a figure as SVG."""
    from matplotlib import rc_context  # noqa: PLC0415

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "suzaku"}):
        drawing.savefig(path, format="svg", metadata={"Date": None})
