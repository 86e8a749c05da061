"""`suzaku eval deals`: measures in worker processes, keeps every game, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from game.errors import ConfigError
from learning.matches.measuring import Measurement, MeasurementReport
from learning.worlds.figures import WorldsFigures, figures_of
from learning.worlds.plan import GameWorlds, WorldsPlan
from learning.worlds.playing import WorldsSetup, judge_of_games
from policies.checkpoint import files_of
from policies.deals.named import models_of, settings_of
from policies.named import files_of_named, folder_of_named, load_named

_LEAST_WALLS: Final = 4
"""Walls by which the noise of a mean over them can be told."""


def make_plan(**given: Any) -> WorldsPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: a sampler or the policy does not exist, or has no reward predictor and needs one;
            or there are too few walls.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = WorldsPlan(**given, identity="", settings=(), models="")
    if 0 < plan.walls < _LEAST_WALLS:
        raise ConfigError(f"walls: {plan.walls} are too few to judge by; give at least {_LEAST_WALLS}, or 0")
    settings = tuple(settings_of(text) for text in plan.samplers)
    if plan.final:
        folder_of_named(plan.policy)
    identity = load_named(plan.policy).identity
    return msgspec.structs.replace(plan, identity=identity, settings=settings, models=models_of(settings))


def measure(
    plan: WorldsPlan, folder: Path | None, *, workers: int | None, quiet: bool
) -> MeasurementReport[WorldsPlan, WorldsFigures]:
    """Measure the games that are missing, and report on all; see `Measurement.run`."""
    predictor = files_of(folder_of_named(plan.policy), ("reward",)) if plan.final else None
    setup = WorldsSetup(plan, files_of_named(plan.policy), predictor)
    return DEALS.run(plan, plan.games, judge_of_games, setup, folder, workers=workers, quiet=quiet)


def _figures(plan: WorldsPlan, rows: Sequence[GameWorlds]) -> WorldsFigures:
    if not any(row.decisions for row in rows):
        raise ConfigError("no decision of these games is close; give more --games or a lower --close")
    return figures_of(plan, rows)


DEALS: Final = Measurement("deals", WorldsPlan, GameWorlds, _figures)
