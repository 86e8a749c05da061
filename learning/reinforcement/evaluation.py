"""Evaluation of a policy against the one it started from, over the same walls every time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kit.errors import TrainingError
from learning.arena.plan import SEATS, ArenaPlan
from learning.arena.report import ArenaReport
from learning.arena.run import run
from learning.matches.players import contender
from learning.reinforcement.plan import ReinforcementPlan


def against_start(
    plan: ReinforcementPlan,
    candidate: Path,
    start: Path,
    *,
    workers: int | None = None,
    ray: str | None = None,
) -> ArenaReport:
    """Duplicate games of a candidate against three copies of the start.

    Args:
        plan: plan of the run; its seed determines the walls, which are never those of self-play.
        candidate: folder of its five checkpoints.
        start: folder of the start's checkpoints.
        workers: processes; one per core if None.
        ray: address of a cluster to play on.

    Raises:
        TrainingError: no game could be completed.
        WorkerFailed: a process could not continue.
    """
    sets = max(1, plan.evaluation_games // len(SEATS["1v3"]))
    games = ArenaPlan(
        challenger=contender(str(candidate)),
        champions=contender(str(start)),
        sets=sets,
        seed=plan.seed,
        length=plan.length,
        compute=plan.compute,
    )
    report = run(games, workers=workers, ray=ray)
    if report is None:
        raise TrainingError(f"no game of {candidate} against {start} could be completed; see the log")
    return report


def figures_of(report: ArenaReport) -> dict[str, float]:
    """The figures of the candidate for a card and the curves; missing ones are left out."""
    side = report.challenger
    named = {
        "placement": side.placement,
        "points": side.points,
        "first": side.first,
        "fourth": side.fourth,
        "wins": side.wins,
        "deal_ins": side.deal_ins,
        "riichi": side.riichi,
        "calls": side.calls,
    }
    found = {name: each.value for name, each in named.items() if each.value is not None}
    return {**found, "games": float(report.games)}


def described(figures: Mapping[str, float]) -> str:
    """The figures of an evaluation in words.

    >>> described({"placement": 2.4512, "points": 1.25, "games": 400.0})
    'average placement 2.451, +1.25 points a game over 400 games'
    """
    placement, points, games = figures["placement"], figures["points"], figures["games"]
    return f"average placement {placement:.3f}, {points:+.2f} points a game over {games:.0f} games"
