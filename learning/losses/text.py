"""The report of `suzaku eval loss` as text."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from game.reports import write_json
from learning.losses.study import SEAT, WORTH_LESS, LossReport
from learning.matches.statistics import Estimate


def print_report(report: LossReport, *, as_json: bool) -> int:
    """Write the report to stdout; 130 if it was stopped."""
    if as_json:
        write_json(report)
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(report))
    return 130 if report.stopped else 0


def _lines(report: LossReport) -> Iterator[str]:
    plan, lost = report.plan, report.losses
    yield (
        f"{report.games} games, split {plan.split}, seat {SEAT}, by {plan.policy}; "
        f"{plan.worlds} walls per decision, seed {plan.seed}; {report.seconds:,.0f} s; "
        f"{report.left_out} records left out"
    )
    yield (
        f"losses in reviews: {lost.disagreements} disagreements with a loss, "
        f"{_percent(lost.negative)} below 0, standard deviation {lost.deviation:.2f}; "
        f"{_percent(lost.clear)} clear, "
        f"{_percent(lost.clear_negative)} clear and below 0"
    )
    yield (
        f"preferred options: {lost.decisions} with a value, {_percent(lost.starred_less)} worth less than "
        f"another by more than {WORTH_LESS}, {_percent(lost.starred_clearly_less)} clearly less than another"
    )
    yield ""
    yield f"{'hands in rollouts':<18}{'pairs':>6}{'rules':>7}" + "".join(
        f"{name:>23}" for name in ("rollouts", "share", "a nat", "spread")
    )
    for name, each in report.slopes.items():
        figures = (each.played, each.share, each.nat, each.spread)
        yield f"{name:<18}{each.pairs:>6}{each.ruled:>7.2f}" + "".join(
            f"{_interval(one):>23}" for one in figures
        )
    yield ""
    yield f"{'policy gives':<18}{'tiles':>7}{'rules':>9}{'deal in':>9}{'share':>22}"
    for name, tiles in report.risks.items():
        yield (
            f"{name:<18}{tiles.tiles:>7}{100 * tiles.ruled:>8.2f}%{100 * tiles.true:>8.2f}%"
            f"{_interval(tiles.share):>22}"
        )
    yield ""
    yield "rules: root mean square difference of the values of two hands; rollouts: mean difference there"
    yield "share: difference in rollouts per point of difference by the rules; a nat: the same per factor of"
    yield "e between the policy's probabilities; spread: standard deviation of the true differences around"
    yield "that share; deal in: tiles that another player could have won on; in brackets: 95 % intervals,"
    yield "games resampled"


def _interval(figure: Estimate) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return "-"
    return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
