"""`suzaku eval answers`: measures in worker processes, keeps every game, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from game.errors import ConfigError
from learning.answers.figures import AnswersFigures, figures_of
from learning.answers.plan import AnswersPlan, GameAnswers
from learning.answers.playing import AnswersSetup, answers_of_games
from learning.matches.measuring import Measurement, MeasurementReport
from policies.checkpoint import files_of
from policies.checkpoint.card import MODELS
from policies.compute import Compute
from policies.named import folder_of_named, load_named


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


ANSWERS: Final = Measurement("answers", AnswersPlan, GameAnswers, _figures)
