"""`suzaku train rl-check`: a policy weakened on purpose must win back what it lost.

Noise in its weights makes the weak policy choose another discard in one decision of five, which costs games.
Nothing but the results of its own games tells the learner so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from game.reports import write_report
from learning.arena.report import ArenaReport
from learning.reinforcement.actors import model_with, play_games
from learning.reinforcement.beginning import StartingModel, load_starting
from learning.reinforcement.evaluation import against_start
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.run import copy_policy, learn_from_play
from policies.checkpoint import load, models_in
from policies.features.kinds import kinds_of
from policies.slots import Slot

_AGREEMENT: Final = 0.8
"""Share of decisions in which the weak policy chooses as its parent."""
_HALVINGS: Final = 10
_GAMES: Final = 16
"""Games on which that is measured."""


class RecoveryReport(msgspec.Struct, frozen=True):
    """What a policy lost by being weakened, and won back by self-play.

    Attributes:
        games: games it learned from.
        evaluation_games: games of each comparison with the policy it comes from.
        agreement: share of decisions in which the weak policy chooses as the one it comes from.
        weak: its points a game against three of that policy.
        weak_placement: its average place.
        recovered: points a game after learning.
        recovered_placement: average place after learning.
    """

    games: int
    evaluation_games: int
    agreement: float
    weak: float
    weak_placement: float
    recovered: float
    recovered_placement: float

    @property
    def text(self) -> str:
        """The report for people."""
        share = (self.recovered - self.weak) / -self.weak if self.weak < 0 else float("nan")
        return (
            f"weakened to choose as before in {self.agreement:.1%} of decisions: {self.weak:+.2f} points "
            f"a game against three of the policy it comes from (average place {self.weak_placement:.3f})\n"
            f"after {self.games:,} games of self-play: {self.recovered:+.2f} points a game "
            f"(average place {self.recovered_placement:.3f}); {share:.0%} won back\n"
            f"{self.evaluation_games:,} games each"
        )


def check_recovery(
    plan: ReinforcementPlan, start: Path, out: Path, *, workers: int | None = None, quiet: bool = False
) -> RecoveryReport:
    """Weaken a policy, let it learn, and compare both with the policy it comes from.

    Args:
        plan: settings of the run.
        start: folder of the six checkpoints.
        out: folder for the weak policy and the run; what is there already is not made again.
        workers: processes; one per core if None.
        quiet: show no progress.

    Raises:
        ConfigError: ``out`` holds a run of another plan.
        WorkerFailed: a process could not continue.
    """
    weak = out / "weak"
    if Slot.DISCARD.value not in models_in(weak):
        weaken(plan, start, weak, workers=workers, quiet=quiet)
    agreement = load(weak, Slot.DISCARD).card.metrics["accuracy"]
    learn_from_play(plan, weak, out / "run", workers=workers, quiet=quiet)
    before, after = (against_start(plan, folder, start, workers=workers) for folder in (weak, out / "run"))
    return RecoveryReport(
        games=plan.rounded_games,
        evaluation_games=before.games,
        agreement=agreement,
        weak=_points(before),
        weak_placement=_placement(before),
        recovered=_points(after),
        recovered_placement=_placement(after),
    )


def print_recovery(report: RecoveryReport, *, as_json: bool) -> int:
    """Print the report; return the exit code: 1 if nothing was won back."""
    write_report(report, lambda found: found.text, as_json=as_json)
    return 0 if report.recovered > report.weak else 1


def weaken(
    plan: ReinforcementPlan, start: Path, out: Path, *, workers: int | None = None, quiet: bool = False
) -> None:
    """Write a policy that discards something else than its parent in one decision of five.

    Noise is added to all its weights, as much as that takes.

    Args:
        plan: settings; its seed determines the noise.
        start: folder of the six checkpoints.
        out: folder for the weak policy.
        workers: processes; one per core if None.
        quiet: show no progress.
    """
    games = msgspec.structs.replace(plan, games=_GAMES, thinning=0.0)
    played = play_games(games, start, workers=workers, quiet=quiet)
    decisions = np.concatenate([game.decisions for game in played])
    begin = load_starting(start, Slot.DISCARD)
    tensors = begin.network.state_dict()
    wanted = _choices(begin, tensors, decisions, plan)

    def agreement(scale: float) -> float:
        weights = noisy(tensors, scale, plan.seed)
        return float((_choices(begin, weights, decisions, plan) == wanted).mean())

    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if agreement(middle) > _AGREEMENT else (low, middle)
    card = msgspec.structs.replace(
        begin.card, metrics={"accuracy": agreement(high)}, parents=(begin.card.tensors.sha256,)
    )
    copy_policy(start, out, {Slot.DISCARD: (card, noisy(tensors, high, plan.seed))})


def noisy(weights: Mapping[str, Tensor], scale: float, seed: int) -> dict[str, Tensor]:
    """Weights with noise, in units of the standard deviation of each tensor; biases and statistics stay.

    Args:
        weights: by name.
        scale: standard deviation of the noise.
        seed: the same seed gives the same noise at every scale.
    """
    dice = torch.Generator().manual_seed(seed)
    return {
        name: tensor + scale * tensor.std() * torch.randn(tensor.shape, generator=dice)
        if tensor.ndim > 1
        else tensor
        for name, tensor in weights.items()
    }


def _choices(
    begin: StartingModel, weights: Mapping[str, Tensor], decisions: NDArray[np.void], plan: ReinforcementPlan
) -> NDArray[np.int64]:
    """``[N]`` the likeliest kinds by some weights."""
    logits = model_with(begin, weights, plan, 0.0).look(
        decisions["state"], decisions["player"], None, plan.length
    )
    choices: NDArray[np.int64] = np.where(kinds_of(decisions["legal"]), logits, -np.inf).argmax(axis=1)
    return choices


def _points(report: ArenaReport) -> float:
    value = report.challenger.points.value
    return float("nan") if value is None else value


def _placement(report: ArenaReport) -> float:
    value = report.challenger.placement.value
    return float("nan") if value is None else value
