"""`suzaku eval answers`: measures in worker processes, keeps every game, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from game.errors import ConfigError
from learning.answers.figures import AnswersFigures, SlotFigures, figures_of
from learning.answers.plan import AnswersPlan, GameAnswers
from learning.answers.playing import AnswersSetup, answers_of_games
from learning.matches.measuring import Measurement, MeasurementReport
from policies.checkpoint import files_of
from policies.checkpoint.card import MODELS
from policies.compute import Compute
from policies.named import folder_of_named, load_named

_HEAD: Final = f"{'yes %':<10}{'answers':>8}{'a game':>8}  {'points':<26}final reward"


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


def measure(
    plan: AnswersPlan, folder: Path | None, *, workers: int | None, quiet: bool
) -> MeasurementReport[AnswersPlan, AnswersFigures]:
    """Measure the games that are missing, and report on all; see `Measurement.run`."""
    setup = AnswersSetup(plan, files_of(folder_of_named(plan.policy), MODELS))
    return ANSWERS.run(plan, plan.games, answers_of_games, setup, folder, workers=workers, quiet=quiet)


def _figures(plan: AnswersPlan, rows: Sequence[GameAnswers]) -> AnswersFigures:
    if not any(row.answers for row in rows):
        raise ConfigError("no answer of these games is unclear; give more --games or a lower --least")
    return figures_of(plan, rows)


def _lines(plan: AnswersPlan, found: AnswersFigures) -> list[str]:
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


ANSWERS: Final = Measurement("answers", AnswersPlan, GameAnswers, _figures, _lines)
