"""The exploitability of a run as a plot, after the CFR-p paper's figure 5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from learning import plots
from learning.cfr.node_table import CurvePoint

PLOT_FILE: Final = "curve.svg"
_LOGARITHMIC_FROM: Final = 100
"""Iterations grown by this factor are spread out logarithmically."""


def draw_curve(curve: Sequence[CurvePoint], path: Path) -> None:
    """Draw the evaluations of a run.

    Args:
        curve: at least one.
        path: of the SVG file.
    """
    iterations = [point.iterations for point in curve]
    drawing = plots.figure(7.0, 4.0)
    left = drawing.subplots()
    left.plot(
        iterations, [point.sampled for point in curve], color="#a83220", label="one game each, as the paper"
    )
    left.plot(iterations, [point.exploitability for point in curve], color="#2f7a66", label="expected scores")
    left.plot(iterations, [point.fixed for point in curve], color="#6b7280", label="best single policy")
    if iterations[-1] > _LOGARITHMIC_FROM * iterations[0]:
        left.set_xscale("log")
    lowest = min(0.0, *(point.fixed for point in curve))
    left.set_ylim(lowest - 0.05, 1.3 * max(point.sampled for point in curve))  # room for the legend
    left.axhline(0.0, color="#000000", linewidth=0.8)
    left.set_xlabel("iterations")
    left.set_ylabel("opponent's points a game")
    left.grid(alpha=0.3)
    left.legend(loc="upper right")
    plots.save(drawing, path)
