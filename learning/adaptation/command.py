"""`suzaku eval adaptation`: measures in worker processes, keeps every hand, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from game.errors import ConfigError
from learning.adaptation.figures import AdaptationFigures, figures_of
from learning.adaptation.plan import AdaptationPlan, HandRow
from learning.adaptation.playing import AdaptationSetup, adapter
from learning.matches.measuring import Measurement, MeasurementReport
from policies.checkpoint import files_of
from policies.checkpoint.card import MODELS
from policies.deals.named import settings_of
from policies.named import folder_of_named, load_named


def make_plan(*, policy: str, sampler: str, **settings: Any) -> AdaptationPlan:
    """Check what is asked for.

    Raises:
        ConfigError: a setting is not possible, or the sampler or the policy does not exist.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    settings_of(sampler)
    return AdaptationPlan(policy=policy, identity=load_named(policy).identity, sampler=sampler, **settings)


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


def _lines(plan: AdaptationPlan, found: AdaptationFigures) -> list[str]:
    unit = "points" if plan.reward == "points" else "final reward"
    lines = [
        f"{found.hands} hands at the {plan.moment} of a round, policy {plan.policy}, sampler {plan.sampler}, "
        f"{plan.tests} tests each, seed {plan.seed}; gains in {unit}",
        f"{'play-outs':>9}{'at most':>9}  {'improved %':<16}{'gain a hand':<24}{'error':>8}{'changed %':>11}"
        f"{'divergence':>12}{'luck %':>8}{'signal %':>10}{'CPU s':>8}",
    ]
    lines += [
        f"{each.playouts:>9,}{each.allowed:>9g}  {each.improved.text('.0f', 100.0):<16}"
        f"{each.gain.text('.1f'):<24}{each.error:>8.1f}{100.0 * each.changed:>11.0f}"
        f"{each.divergence:>12.4f}{100.0 * each.luck:>8.1f}{100.0 * each.signal:>10.1f}{each.seconds:>8.1f}"
        for each in found.playouts
    ]
    for name in found.playouts[-1].gains:
        gains = ", ".join(
            f"{each.playouts:,} at {each.allowed:g}: {each.gains[name].text('.1f')}"
            for each in found.playouts
        )
        lines.append(f"{name}: {gains}")
    return lines


ADAPTATION: Final = Measurement("adaptation", AdaptationPlan, HandRow, _figures, _lines)
