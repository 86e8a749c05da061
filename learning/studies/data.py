"""How accuracy grows with the games: the same network on a growing share of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from learning.corpus.reader import Corpus
from learning.studies.parts import small_plan
from learning.studies.plots import figure, save
from learning.studies.study import PHOENIX, Report, Study, StudyResult
from learning.supervised.plan import TrainingPlan

SHARES: Final = {0.01: 5.0, 0.03: 3.0, 0.1: 1.5, 0.3: 0.75, 1.0: 1.5}
"""Shares of the games, and the passes over each: a small share is passed over more often."""
PLOT_FILE: Final = "data.svg"


def _plans(seed: int) -> dict[str, TrainingPlan]:
    return {
        f"{100 * share:g} % of the games": small_plan(
            samples=0, passes=passes, seed=seed, selection={"rooms": PHOENIX, "share": share}
        )
        for share, passes in SHARES.items()
    }


def _report(results: list[StudyResult], corpus: Corpus, folder: Path) -> Report:
    draw(results, folder / PLOT_FILE)
    return Report(results)


def draw(results: list[StudyResult], path: Path) -> None:
    """Draw accuracy over games, as SVG."""
    games = [result.card.data.games for result in results]
    accuracies = [100 * result.card.metrics["accuracy"] for result in results]
    drawing = figure(6.4, 3.6)
    axes = drawing.subplots()
    axes.errorbar(games, accuracies, yerr=[100 * result.margin for result in results], marker="o", capsize=3)
    for x, y in zip(games, accuracies, strict=True):
        axes.annotate(f"{y:.1f}", (x, y), textcoords="offset points", xytext=(6, -12))
    axes.set_xscale("log")
    axes.set_xlabel("games learned from")
    axes.set_ylabel("discards that match the player's, % of validation")
    axes.grid(alpha=0.3)
    axes.margins(x=0.1)
    save(drawing, path)


STUDY: Final = Study(_plans, _report, draws=True)
