"""`suzaku train rl-check`: a policy weakened on purpose must win back what it lost.

The weak policy imitates the one it comes from, except that it takes its second choice after one draw in five,
which costs games. Nothing but the results of its own games tells the learner so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from game.reports import write_report
from game.tiles import KINDS
from learning.arena.report import ArenaReport
from learning.reinforcement.actors import play_games
from learning.reinforcement.evaluation import against_start
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.run import copy_policy, learn_from_play
from learning.reinforcement.settings import ROWS_LEARNED, LearnerSettings
from learning.runs.learner import Learner
from learning.samples.loader import Batch
from learning.supervised.imitation import imitation_loss
from policies.checkpoint import load, models_in, network_of
from policies.features.encode import encode
from policies.features.kinds import kinds_of
from policies.inference import Model
from policies.networks import Network
from policies.slots import Slot

SPOILED_KINDS: Final = (0, 6, 12, 18, 24, 28, 32)
"""After drawing one of these, one tile in five, the weak policy takes its second choice."""
_PASSES: Final = 3
_RATE: Final = 1e-3


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
    """Write a policy that takes its second choice after one draw in five.

    Args:
        plan: settings; two of its blocks are played to learn from.
        start: folder of the six checkpoints.
        out: folder for the weak policy.
        workers: processes; one per core if None.
        quiet: show no progress.
    """
    games = msgspec.structs.replace(plan, games=2 * plan.block_games, thinning=0.0)
    played = play_games(games, start, workers=workers, quiet=quiet)
    decisions = np.concatenate([game.decisions for game in played])
    begin = load(start, Slot.DISCARD)
    network = network_of(begin)
    assert isinstance(network, Network)
    model = Model(network, str(begin.card.features), begin.card.without)
    logits = model.look(decisions["state"], decisions["player"], None, plan.length)
    legal = kinds_of(decisions["legal"])
    labels = spoiled_choices(logits, legal, decisions["state"]["drawn"])
    settings = LearnerSettings(features=model.features, without=begin.card.without, seed=plan.seed)
    learner: Learner[Batch] = Learner(
        network, settings, torch.get_num_threads(), loss=imitation_loss, frozen=True
    )
    try:
        steps = _PASSES * max(1, len(labels) // ROWS_LEARNED)
        dice = np.random.default_rng(plan.seed)
        order = np.concatenate([dice.permutation(len(labels)) for _ in range(_PASSES)])
        for number, rows in enumerate(np.array_split(order, steps)):
            planes = encode(decisions["state"][rows], decisions["player"][rows], model.features)
            batch = Batch(
                torch.from_numpy(planes),
                torch.from_numpy(labels[rows]),
                torch.from_numpy(legal[rows]),
                torch.from_numpy(rows),
                None,
            )
            learner.step(batch, number, _RATE * (1.0 - number / steps))
        weights = learner.weights()
    finally:
        learner.close()
    agreement = float((labels == np.where(legal, logits, -np.inf).argmax(1)).mean())
    card = msgspec.structs.replace(
        begin.card, metrics={"accuracy": agreement}, parents=(begin.card.tensors.sha256,)
    )
    copy_policy(start, out, card, weights)


def spoiled_choices(
    logits: NDArray[np.float32], legal: NDArray[np.bool_], drawn: NDArray[np.int16]
) -> NDArray[np.int64]:
    """``[N]`` kinds: the likeliest legal one, but the second after a draw of `SPOILED_KINDS`.

    Args:
        logits: ``[N, 34]``.
        legal: ``[N, 34]``, at least two true in every row.
        drawn: ``[N]`` the tile just drawn, -1 for none.
    """
    order = np.where(legal, logits, -np.inf).argsort(axis=1)
    spoiled = np.isin(drawn >> 2, SPOILED_KINDS) & (drawn >= 0)
    return order[np.arange(len(order)), np.where(spoiled, KINDS - 2, KINDS - 1)]


def _points(report: ArenaReport) -> float:
    value = report.challenger.points.value
    return float("nan") if value is None else value


def _placement(report: ArenaReport) -> float:
    value = report.challenger.placement.value
    return float("nan") if value is None else value
