"""`suzaku train cfr`: Monte-Carlo CFR on two-player mahjong, in the loop of all runs.

The run's state is its result: the node table, `learning.cfr.node_table`. A run that is killed resumes at its
last save, and a finished one goes on if it is given more iterations.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from kit.distribution import require
from kit.options import Count, Seed
from kit.reports import write_report
from learning.cfr.deal_tree import deal_series, new_deal_tree
from learning.cfr.exploitability import measure, summed_up
from learning.cfr.node_table import NODES_FILE, CurvePoint, NodeFolder, visited
from learning.cfr.sampling import UPDATES, NodeSums, Update, learn_deals, new_sums
from learning.runs import plots
from learning.runs.loop import EvaluationResult, RunStatus, StepResult, carry_out, preparing
from learning.runs.state import RunFolder

STEP: Final = 500
"""Most iterations of a step, after which the run may stop: about a second."""
_REGULAR_EPOCHS: Final = 20
_GROWTH: Final = 5


class CfrPlan(msgspec.Struct, frozen=True):
    """Everything that determines the numbers of a run.

    Attributes:
        sampling: policies that an iteration tries on its deal. chance: all of both players; external: all of
            one player, and a drawn one of the other.
        update: variant of CFR: cfr, plus (CFR+) or linear.
        epoch: iterations between evaluations; after 20 of these, evaluations come less often, whenever the
            iterations have grown by a fifth.
        deals: deals of each evaluation.
        seed: seed of deals and samples.
    """

    sampling: Literal["chance", "external"] = "chance"
    update: Update = "cfr"
    epoch: Count = 500
    deals: Annotated[int, Meta(ge=1, le=1_000_000)] = 3_000
    seed: Seed = 0

    def next_evaluation(self, done: int) -> int:
        """Iterations at the first evaluation after some iterations.

        >>> plan = CfrPlan(epoch=500)
        >>> [plan.next_evaluation(done) for done in (0, 500, 750, 10_000, 11_500, 100_000)]
        [500, 1000, 1000, 12000, 12000, 115000]
        """
        epochs = 0
        while epochs * self.epoch <= done:
            epochs += epochs // _GROWTH if epochs >= _REGULAR_EPOCHS else 1
        return epochs * self.epoch


def learn(plan: CfrPlan, iterations: int, out: Path, *, quiet: bool = False) -> list[CurvePoint]:
    """Learn, or go on with an earlier run.

    Args:
        plan: the settings.
        iterations: in all.
        out: folder of the node table.
        quiet: show no progress.

    Returns:
        The evaluations of the run.

    Raises:
        ConfigError: ``out`` holds a run of another plan, or a package that draws curves is missing.
        TrainingError: the table cannot be saved or read.
        KeyboardInterrupt: a signal asked to stop; the table is saved.
    """
    require("matplotlib", "`suzaku train cfr`")
    with preparing(CfrRun.title, quiet=quiet):
        run = CfrRun(plan, iterations, out)
    carry_out(run, quiet=quiet)
    return run.curve


class CfrRun:
    """One run, as the loop of all runs sees it: a step takes up to 500 iterations.

    Args:
        plan: the settings.
        iterations: in all.
        out: folder of the node table.
    """

    title = "CFR"
    unit = "iterations"
    patience = 0

    def __init__(self, plan: CfrPlan, iterations: int, out: Path) -> None:
        self.plan = plan
        self.total = iterations
        self.folder: RunFolder = NodeFolder(out, plan, {})
        self.status = RunStatus()
        self.sums = new_sums()
        self.curve: list[CurvePoint] = []
        self._tree = new_deal_tree()

    @property
    def done(self) -> int:
        """Iterations done."""
        return self.status.samples

    @property
    def kept(self) -> bool:
        """Always true: the run keeps no checkpoint beside its table."""
        return True

    def steps(self) -> Generator[StepResult]:
        """The iterations that remain."""
        plan, status = self.plan, self.status
        while self.done < self.total:
            due = min(plan.next_evaluation(self.done), self.total)
            count = min(due - self.done, STEP)
            begun = time.monotonic()
            learn_deals(
                self.sums,
                self._tree,
                UPDATES[plan.update],
                plan.sampling == "external",
                deal_series(plan.seed, training=True),
                self.done + 1,
                count,
            )
            status.step += 1
            status.samples += count
            nodes = len(visited(self.sums))
            yield StepResult(
                count,
                regret_bound(self.sums, self.done),
                0.0,
                self.done == due,
                {"cfr/nodes": nodes, "cfr/iterations_per_s": count / (time.monotonic() - begun)},
                {"nodes": f"{nodes:,}"},
            )

    def evaluate(self) -> EvaluationResult:
        """Play the benchmark with the average strategy."""
        plan = self.plan
        result = summed_up(measure(self.sums.strategies, plan.deals, deal_series(plan.seed, training=False)))
        point = CurvePoint(
            self.done,
            len(visited(self.sums)),
            self.status.seconds,
            result.exploitability,
            result.sampled,
            result.fixed,
            *result.policies,
        )
        self.curve.append(point)
        values = {f"cfr/{name}": value for name, value in msgspec.structs.asdict(point).items()}
        best = self.status.best
        improved = best is None or result.exploitability < best
        return EvaluationResult(
            result.exploitability, improved, f"exploitability {result.exploitability:.4f}", values, {}
        )

    def keep(self, metrics: dict[str, float]) -> None:
        """Do nothing: the average strategy improves with time, so the last one is the result."""

    def state(self) -> dict[str, Any]:
        """The node table and the curve."""
        return {"sums": self.sums, "curve": self.curve}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on with a saved table."""
        self.sums, self.curve = state["sums"], state["curve"]


class CfrReport(msgspec.Struct, frozen=True):
    """A run: its plan, the file of its table, and its evaluations."""

    plan: CfrPlan
    table: str
    curve: list[CurvePoint]


def print_run(plan: CfrPlan, curve: list[CurvePoint], out: Path, *, as_json: bool) -> int:
    """Print the report of a run, and draw its curve beside the table; return the exit code."""
    draw_curve(curve, out / PLOT_FILE)
    return write_report(CfrReport(plan, str(out / NODES_FILE), curve), as_json=as_json)


def regret_bound(sums: NodeSums, iterations: int) -> float:
    """The largest positive regret of each node, added up and divided by the iterations.

    With perfect recall and no sampling, twice this bounds the exploitability; here it only shows whether the
    regrets grow more slowly than the iterations.

    Source: Zinkevich et al. 2007, theorems 2 and 3.
    """
    keys = visited(sums)
    return float(np.maximum(sums.regrets[keys].max(axis=1), 0.0).sum()) / max(1, iterations)


PLOT_FILE: Final = "curve.svg"
_LOGARITHMIC_FROM: Final = 100
"""Iterations grown by this factor are spread out logarithmically."""


def draw_curve(curve: Sequence[CurvePoint], path: Path) -> None:
    """Draw the evaluations of a run.

    Args:
        curve: at least one.
        path: of the SVG file.
    """
    iterations = [point.iterations for point in curve]
    drawing = plots.figure(7.0, 4.0)
    left = drawing.subplots()
    left.plot(iterations, [point.sampled for point in curve], color="#a83220", label="one game each")
    left.plot(iterations, [point.exploitability for point in curve], color="#2f7a66", label="expected scores")
    left.plot(iterations, [point.fixed for point in curve], color="#6b7280", label="best single policy")
    if iterations[-1] > _LOGARITHMIC_FROM * iterations[0]:
        left.set_xscale("log")
    lowest = min(0.0, *(point.fixed for point in curve))
    left.set_ylim(lowest - 0.05, 1.3 * max(point.sampled for point in curve))  # room for the legend
    left.axhline(0.0, color="#000000", linewidth=0.8)
    left.set_xlabel("iterations")
    left.set_ylabel("opponent's points a game")
    left.grid(alpha=0.3)
    left.legend(loc="upper right")
    plots.save(drawing, path)
