"""Plots of `suzaku eval hands`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from learning import plots
from learning.hands.evaluation import HandsReport
from policies.towers.hands import SHANTEN_CLASSES

_COLUMNS: Final = 2


def save_plots(report: HandsReport, folder: Path) -> None:
    """Draw the shanten by turn and the calibration of waits, as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [each for each in report.models if not each.model.endswith("more")]
    truth = np.array(report.by_turn)
    drawing = plots.figure(10.0, 2.6 * (1 + len(shown)))
    axes = drawing.subplots(len(shown) + 1, 1, sharex=True)
    turns = np.arange(len(truth))
    axes[0].plot(turns, truth @ np.arange(SHANTEN_CLASSES), label="games", color="black")
    for each in shown:
        axes[0].plot(turns, np.array(each.by_turn) @ np.arange(SHANTEN_CLASSES), label=each.model)
    axes[0].set_ylabel("mean shanten")
    axes[0].legend(fontsize="small")
    for axis, each in zip(axes[1:], shown, strict=True):
        for offset, shares, strength in ((-0.2, truth, 0.45), (0.2, np.array(each.by_turn), 1.0)):
            below = np.zeros(len(turns))
            for shanten in range(SHANTEN_CLASSES):
                height = np.nan_to_num(shares[:, shanten])
                axis.bar(turns + offset, height, 0.38, below, color=f"C{shanten}", alpha=strength)
                below += height
        axis.set_ylabel(each.model, fontsize="small")
    axes[-1].set_xlabel("turn; shanten 0 at the bottom; left the games, right the model")
    plots.save(drawing, folder / "shanten.svg")
    drawing = plots.figure(8.0, 4.0)
    for axis, name in zip(drawing.subplots(1, _COLUMNS), ("curve", "scaled_curve"), strict=True):
        axis.plot((0, 1), (0, 1), ":", color="black")
        for each in shown:
            curve = np.array(getattr(each, name))
            used = curve[:, 0] > 0
            axis.plot(curve[used, 1], curve[used, 2], ".-", label=each.model)
        axis.set_xlabel("foreseen share of waits" + (", after Platt scaling" if name != "curve" else ""))
        axis.set_ylabel("actual share")
        axis.legend(fontsize="small")
    plots.save(drawing, folder / "waits.svg")
