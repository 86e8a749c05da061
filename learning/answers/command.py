"""`suzaku eval answers`: measures in worker processes, keeps every game, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from game.errors import ConfigError
from game.reports import write_report
from learning.answers.figures import AnswersFigures, SlotFigures, figures_of
from learning.answers.plan import AnswersPlan, GameAnswers
from learning.answers.playing import AnswersSetup, answers_of_games
from learning.matches.measuring import measured_rows
from learning.matches.store import read_rows
from policies.checkpoint import files_of
from policies.checkpoint.card import MODELS
from policies.compute import Compute
from policies.named import folder_of_named, load_named

_HEAD: Final = f"{'yes %':<10}{'answers':>8}{'a game':>8}  {'points':<26}final reward"


class AnswersReport(msgspec.Struct, frozen=True):
    """The results of `suzaku eval answers`.

    Attributes:
        plan: what was measured.
        figures: over the games so far.
    """

    plan: AnswersPlan
    figures: AnswersFigures


def make_plan(
    *, policy: str, games: int, least: float, walls: int, seed: int, compute: Compute
) -> AnswersPlan:
    """Check what is asked for.

    Raises:
        ConfigError: the policy is no set of checkpoints.
        CheckpointError: it cannot be used.
    """
    folder_of_named(policy)
    return AnswersPlan(
        policy=policy,
        identity=load_named(policy).identity,
        games=games,
        least=least,
        walls=walls,
        seed=seed,
        compute=compute,
    )


def measure(plan: AnswersPlan, folder: Path | None, *, workers: int | None, quiet: bool) -> AnswersReport:
    """Measure the games that are missing, and report on all.

    Args:
        plan: what to measure.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        workers: processes; one per core if None.
        quiet: show no progress.

    Raises:
        ConfigError: another run is in the folder, or no answer was unclear.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
        KeyboardInterrupt: stopped; the games so far are kept.
    """
    setup = AnswersSetup(plan, files_of(folder_of_named(plan.policy), MODELS))
    rows = measured_rows(
        plan,
        GameAnswers,
        plan.games,
        folder,
        answers_of_games,
        setup,
        what="answers",
        workers=workers,
        quiet=quiet,
    )
    return _report(plan, rows)


def measured(folder: Path) -> AnswersReport:
    """Report on the games that a run has measured so far; it may be under way.

    Raises:
        ConfigError: none of its answers was unclear.
        ReplayError: there is no run, or it cannot be read.
    """
    return _report(*read_rows(folder, AnswersPlan, GameAnswers))


def _report(plan: AnswersPlan, rows: Sequence[GameAnswers]) -> AnswersReport:
    if not any(row.answers for row in rows):
        raise ConfigError("no answer of these games is unclear; give more --games or a lower --least")
    return AnswersReport(plan, figures_of(plan, rows))


def print_report(report: AnswersReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, lambda found: "\n".join(_lines(found)), as_json=as_json)
    return 0


def _lines(report: AnswersReport) -> list[str]:
    plan, found = report.plan, report.figures
    lines = [
        f"{found.answers:,} answers of {found.games} games, policy {plan.policy}, {plan.walls} walls each, "
        f"seed {plan.seed}; {found.seconds:.1f} CPU s a game",
        'what "yes" is worth more than "no", by the probability that the model gives it:',
    ]
    for each in found.slots:
        lines += ["", f"{each.slot}: {_even(each)}", _HEAD]
        lines += [
            f"{f'{100 * row.least:.0f}-{100 * row.most:.0f}':<10}{row.answers:>8,}{row.asked:>8.2f}  "
            f"{row.points.text('.0f'):<26}{row.reward.text('.2f')}"
            for row in each.classes
        ]
    return lines


def _even(found: SlotFigures) -> str:
    points, reward = (
        "no clear probability" if each.value is None else each.text(".0%")
        for each in (found.even_points, found.even_reward)
    )
    return f"both are worth the same at {points} in points, {reward} as a final reward"
