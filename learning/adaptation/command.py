"""`suzaku eval adaptation`: measures in worker processes, keeps every hand, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from game.errors import ConfigError
from learning.adaptation.figures import AdaptationFigures, figures_of
from learning.adaptation.plan import AdaptationPlan, HandRow
from learning.adaptation.playing import AdaptationSetup, adapter
from learning.matches.measuring import Measurement, MeasurementReport
from policies.checkpoint import files_of
from policies.checkpoint.card import MODELS
from policies.deals.named import settings_of
from policies.named import folder_of_named, load_named


def make_plan(**given: Any) -> AdaptationPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: a setting is not possible, or the sampler or the policy does not exist.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = AdaptationPlan(**given, identity="")
    settings_of(plan.sampler)
    return msgspec.structs.replace(plan, identity=load_named(plan.policy).identity)


def measure(
    plan: AdaptationPlan, folder: Path | None, *, workers: int | None, quiet: bool
) -> MeasurementReport[AdaptationPlan, AdaptationFigures]:
    """Measure the hands that are missing, and report on all; see `Measurement.run`."""
    setup = AdaptationSetup(plan, files_of(folder_of_named(plan.policy), MODELS))
    return ADAPTATION.run(plan, plan.hands, adapter, setup, folder, workers=workers, quiet=quiet)


def _figures(plan: AdaptationPlan, rows: Sequence[HandRow]) -> AdaptationFigures:
    if not any(row.adapted for row in rows):
        raise ConfigError("no player of these games had such a hand; give more --hands")
    return figures_of(plan, rows)


ADAPTATION: Final = Measurement("adaptation", AdaptationPlan, HandRow, _figures)
