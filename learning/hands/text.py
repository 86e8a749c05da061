"""The report of `suzaku eval hands` as Markdown, and its plots."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from game.reports import write_report
from learning.hands.evaluation import HandsReport
from learning.hands.figures import ModelFigures
from learning.matches.statistics import Estimate
from learning.studies import plots
from policies.towers.hands import SHANTEN_CLASSES

_TURNS_SHOWN: Final = (0, 3, 6, 9, 12, 15)
_COLUMNS: Final = 2


def print_report(report: HandsReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, report_text, as_json=as_json)
    return 0


def report_text(report: HandsReport) -> str:
    """The report as Markdown tables."""
    lines = [
        f"{report.games:,} games ({report.split}), {report.decisions:,} decisions; ready hands "
        f"{report.ready:.1%}, four of a kind {report.four:.2%}",
        "",
        "| model | hands each | L2 of shanten | ± | root square | of single hands | log loss | distribution "
        "| ready |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *map(_shanten_row, report.models),
        "",
        "| model | opponents | waits | ECE | after Platt | log loss | after Platt |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
        *(row for each in report.models for row in _wait_rows(each)),
        "",
        "| model | hands/s | random tiles | four of a kind | unready in riichi | corrected | replaced "
        "| made ready |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *map(_cost_row, report.models),
        "",
        f"| ready hands at turn | {' | '.join(map(str, _TURNS_SHOWN))} |",
        "| --- |" + " ---: |" * len(_TURNS_SHOWN),
        _ready_row("games", report.by_turn),
        *(_ready_row(each.model, each.by_turn) for each in report.models),
    ]
    if report.danger:
        lines += [
            "",
            "| discards against | count | deal-ins | by rule → heads | log loss | gain | AUC | gain |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
    for each in report.danger:
        cells = (
            each.against,
            f"{each.cases:,}",
            f"{each.deal_ins:,}",
            f"{each.foreseen[0]:,.0f} → {each.foreseen[1]:,.0f}",
            f"{_number(each.log_loss[0], 5)} → {_number(each.log_loss[1], 5)}",
            _number(each.gain, 5),
            f"{_number(each.auc[0], 4)} → {_number(each.auc[1], 4)}",
            _number(each.auc_gain, 4),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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


def _shanten_row(each: ModelFigures) -> str:
    cells = (
        each.model,
        f"{each.samples}" if each.samples else "",
        _number(each.l2, 3),
        f"{each.l2_deviation:.3f}",
        _number(each.root_square, 3),
        _number(each.sample_root_square, 3),
        _number(each.shanten_loss, 3),
        _number(each.distribution, 3),
        _share(each.ready, 1),
    )
    return f"| {' | '.join(cells)} |"


def _wait_rows(each: ModelFigures) -> list[str]:
    return [
        f"| {each.model} | {name} | {before.rate:.2%} | {_number(before.ece, 5)} | {_number(after.ece, 5)} | "
        f"{_number(before.log_loss, 5)} | {_number(after.log_loss, 5)} |"
        for name, (before, after) in each.waits.items()
    ]


def _cost_row(each: ModelFigures) -> str:
    shares = (each.filled, each.four, each.unready, each.corrected, each.replaced, each.raised)
    cells = (
        each.model,
        f"{each.hands_per_s:,.0f}",
        *("" if share is None else f"{share:.2%}" for share in shares),
    )
    return f"| {' | '.join(cells)} |"


def _ready_row(name: str, by_turn: list[list[float]]) -> str:
    return f"| {name} | {' | '.join(f'{by_turn[turn][0]:.1%}' for turn in _TURNS_SHOWN)} |"


def _number(found: Estimate | None, digits: int) -> str:
    if found is None or found.value is None or found.low is None or found.high is None:
        return ""
    return f"{found.value:.{digits}f} ({found.low:.{digits}f}–{found.high:.{digits}f})"


def _share(found: Estimate, digits: int) -> str:
    if found.value is None or found.low is None or found.high is None:
        return ""
    return f"{found.value:.{digits}%} ({found.low:.{digits}%}–{found.high:.{digits}%})"
