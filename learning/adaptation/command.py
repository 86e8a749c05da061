"""`suzaku eval adaptation`: measures in worker processes, keeps every hand, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from game.errors import ConfigError
from game.reports import write_report
from learning.adaptation.figures import AdaptationFigures, figures_of
from learning.adaptation.plan import AdaptationPlan, HandRow
from learning.adaptation.playing import AdaptationSetup, adapter
from learning.matches.measuring import measured_rows
from learning.matches.store import read_rows
from policies.checkpoint import files_of
from policies.checkpoint.card import MODELS
from policies.compute import Compute
from policies.deals.named import settings_of
from policies.named import folder_of_named, load_named


class AdaptationReport(msgspec.Struct, frozen=True):
    """The results of `suzaku eval adaptation`.

    Attributes:
        plan: what was measured.
        figures: over the hands so far.
    """

    plan: AdaptationPlan
    figures: AdaptationFigures


def make_plan(*, policy: str, sampler: str, **settings: Any) -> AdaptationPlan:
    """Check what is asked for.

    Raises:
        ConfigError: a setting is not possible, or the sampler or the policy does not exist.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    settings_of(sampler)
    return AdaptationPlan(policy=policy, identity=load_named(policy).identity, sampler=sampler, **settings)


def measure(
    plan: AdaptationPlan, folder: Path | None, compute: Compute, *, workers: int | None, quiet: bool
) -> AdaptationReport:
    """Measure the hands that are missing, and report on all.

    Args:
        plan: what to measure.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        compute: how networks compute.
        workers: processes; one per core if None.
        quiet: show no progress.

    Raises:
        ConfigError: another run is in the folder, or no game had such a hand.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
        KeyboardInterrupt: stopped; the hands so far are kept.
    """
    setup = AdaptationSetup(plan, files_of(folder_of_named(plan.policy), MODELS), compute)
    rows = measured_rows(
        plan, HandRow, plan.hands, folder, adapter, setup, what="adaptation", workers=workers, quiet=quiet
    )
    return _report(plan, rows)


def measured(folder: Path) -> AdaptationReport:
    """Report on the hands that a run has measured so far; it may be under way.

    Raises:
        ConfigError: none of its games had such a hand.
        ReplayError: there is no run, or it cannot be read.
    """
    return _report(*read_rows(folder, AdaptationPlan, HandRow))


def _report(plan: AdaptationPlan, rows: Sequence[HandRow]) -> AdaptationReport:
    if not any(row.adapted for row in rows):
        raise ConfigError("no player of these games had such a hand; give more --hands")
    return AdaptationReport(plan, figures_of(plan, rows))


def print_report(report: AdaptationReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, lambda found: "\n".join(_lines(found)), as_json=as_json)
    return 0


def _lines(report: AdaptationReport) -> list[str]:
    plan, found = report.plan, report.figures
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
