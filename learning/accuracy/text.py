"""The text report of `suzaku eval accuracy`: tables on a terminal, plain columns elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table

from game.reports import write_json
from learning.accuracy.report import AccuracyReport, ModelReport
from learning.accuracy.scores import AnswerScores, Interval
from policies.slots import Slot

_LEAST_WIDTH: Final = 100
"""Width of the widest table; digits must not be cut off, even if a terminal wraps the lines."""
_FIGURES: Final = ("decisions", "top-1", "interval")
_OF_DISCARDS: Final = ("top-2", "top-3", "ECE")
_OF_YES: Final = ("majority", "balanced", "precision", "recall", "ECE")


def print_report(report: AccuracyReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    if as_json:
        write_json(report)
        return 0
    console = Console(highlight=False, markup=False)
    console.width = max(console.width, _LEAST_WIDTH)
    for line in _head(report):
        console.print(line, soft_wrap=True)
    for model in report.models:
        console.print()
        for line in _about(model):
            console.print(line, soft_wrap=True)
        console.print(_table(model, ruled=console.is_terminal))
    for line in _notes(report):
        console.print(line, soft_wrap=True)
    return 0


def _head(report: AccuracyReport) -> Iterator[str]:
    data = report.data
    yield f"{', '.join(data.paths)}: {data.games:,} games, split {data.split}, {data.players}"
    if data.left_out:
        yield "left out: " + ", ".join(f"{count} {why}" for why, count in data.left_out.items())
    if data.from_training:
        yield f"{data.from_training:,} of the games belong to the training split"
    seen = (
        f", each position averaged over {report.permutations} permutations" if report.permutations > 1 else ""
    )
    where = f"{report.device} in {report.precision}"
    yield f"content {data.content[:16]}, seed {report.seed}, {report.seconds:,.0f} s on {where}{seen}"


def _about(model: ModelReport) -> Iterator[str]:
    speed = f"{model.rows / max(1e-9, model.seconds):,.0f}/s"
    yield f"{model.folder}: {model.described}"
    yield f"{model.parameters:,} parameters, {model.rows:,} positions in {model.seconds:,.1f} s, {speed}"
    if model.difference is not None:
        other = model.difference
        yield f"top-1 {100 * other.top1:+.2f} {_points(other.interval)} points relative to {other.folder}"


def _table(model: ModelReport, *, ruled: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD if ruled else None, pad_edge=ruled, show_edge=False)
    table.add_column(model.model)
    for name in (*_FIGURES, *(_OF_DISCARDS if model.model == Slot.DISCARD else _OF_YES)):
        table.add_column(name, justify="right")
    table.add_row("all", *_cells(model.scores))
    for title, parts in model.cuts.items():
        for name, scores in parts.items():
            table.add_row(f"{title} {name}", *_cells(scores))
    if model.heuristic is not None:
        table.add_row("heuristic", *_cells(model.heuristic.scores))
        if model.heuristic.scores.decisions < model.scores.decisions:
            table.add_row("network, same sample", *_cells(model.heuristic.network))
    return table


def _cells(scores: AnswerScores) -> list[str]:
    cells = [f"{scores.decisions:,}", _percent(scores.top1), _interval(scores.interval)]
    if scores.yes is None:
        cells += [_percent(scores.top2), _percent(scores.top3)]
    else:
        yes = scores.yes
        cells.append(f"{yes.majority_answer} {_percent(yes.majority)}")
        cells += [_percent(each) for each in (yes.balanced, yes.precision, yes.recall)]
    return [*cells, _percent(scores.calibration_error)]


def _notes(report: AccuracyReport) -> Iterator[str]:
    yield ""
    yield f"shares in percent; interval: of top-1, 95 %, {report.resamples:,} bootstrap draws of games"
    yield "ECE: expected calibration error, the distance between predicted chances and actual frequencies"
    yield "turn: the player's earlier discards; riichi: an opponent's; rank: dan index of people, 16 is 7-dan"
    if any(model.model != Slot.DISCARD for model in report.models):
        yield "majority: always giving the more common answer; a yes is right only with the meld made"
    asked = [model.heuristic.scores.decisions for model in report.models if model.heuristic is not None]
    if asked:
        yield f"heuristic: the rule-based player, on a sample of at most {max(asked):,} decisions per model"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else f"{100 * interval[0]:.2f}-{100 * interval[1]:.2f}"


def _points(interval: Interval | None) -> str:
    return "" if interval is None else f"({100 * interval[0]:+.2f} to {100 * interval[1]:+.2f})"
