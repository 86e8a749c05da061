"""`suzaku eval adaptation`: measures in worker processes, keeps every hand, reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from game.errors import ConfigError, ReplayError
from game.reports import write_report
from game.workers.pool import Done
from learning.adaptation.figures import AdaptationFigures, figures_of
from learning.adaptation.plan import AdaptationPlan, HandRow
from learning.adaptation.playing import AdaptationSetup, adapter
from learning.matches.statistics import Estimate
from learning.matches.store import Store
from learning.runs.progress import Progress
from learning.workers.spread import spread
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
    try:
        with Store(plan, HandRow, folder) as store:
            missing = [number for number in range(plan.hands) if number not in store.rows]
            with Progress("adaptation.progress", "hands", "hands", total=plan.hands, quiet=quiet) as progress:
                progress.reach(len(store.rows))
                for _, row in spread(adapter, setup, missing, workers=workers) if missing else ():
                    if not isinstance(row, Done) and store.add(row):
                        progress.advance(1)
            rows = [store.rows[number] for number in sorted(store.rows)]
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    except KeyboardInterrupt:
        where = f"the hands so far are in {folder}; give the same command again to resume"
        raise KeyboardInterrupt(f"stopped: {where}" if folder else "stopped; nothing was kept") from None
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
        f"{'play-outs':>9}  {'improved %':<20}{'gain a hand':<24}{'error':>8}{'changed %':>11}"
        f"{'divergence':>12}{'CPU s':>8}",
    ]
    lines += [
        f"{each.playouts:>9,}  {_text(each.improved, 100.0, '.0f'):<20}{_text(each.gain, 1.0, '.1f'):<24}"
        f"{each.error:>8.1f}{100.0 * each.changed:>11.0f}{each.divergence:>12.4f}{each.seconds:>8.1f}"
        for each in found.playouts
    ]
    for name in found.playouts[-1].gains:
        gains = ", ".join(
            f"{each.playouts:,}: {_text(each.gains[name], 1.0, '.1f')}" for each in found.playouts
        )
        lines.append(f"{name}: {gains}")
    return lines


def _text(each: Estimate, scale: float, form: str) -> str:
    if each.value is None or each.low is None or each.high is None:
        return "not defined"
    return f"{scale * each.value:{form}} [{scale * each.low:{form}}, {scale * each.high:{form}}]"
