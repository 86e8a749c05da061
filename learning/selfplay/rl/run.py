"""`suzaku train rl`: a run of self-play learning, block by block.

The learner and the thread that collects games run in one process, the actors in others.
All state is in the run's folder: a killed run resumes at its last save, with the same games and numbers.

Source: Suphx, arXiv:2003.13590, section 3.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
import torch

from kit.errors import TrainingError
from learning.runs.commit import current_commit
from learning.runs.loop import EvaluationResult, RunStatus, StepResult, carry_out, preparing, run_folder
from learning.selfplay.arena.plan import SEATS, ArenaPlan
from learning.selfplay.arena.report import ArenaReport, report
from learning.selfplay.players import contender
from learning.selfplay.rl.actors import Actors, LearnedGame, version_for
from learning.selfplay.rl.learner import PolicyLearner, rewards_of, samples_of
from learning.selfplay.rl.plan import ReinforcementPlan
from learning.selfplay.series import play_series
from policies.checkpoint.card import MODELS, Card, Data, Model, Training
from policies.checkpoint.store import Checkpoint, files_of, load, load_predictor, models_in, save
from policies.checkpoint.tensors import pack
from policies.flow.slots import Slot
from policies.nets.architectures import Arrays
from policies.play.named import predictor_folder


def against_start(
    plan: ReinforcementPlan, candidate: Path, start: Path, workers: int | None, ray: str | None
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
    games = ArenaPlan(
        challenger=contender(str(candidate)),
        champions=contender(str(start)),
        sets=max(1, plan.evaluation_games // len(SEATS["1v3"])),
        seed=plan.seed,
        length=plan.length,
        compute=plan.compute,
    )
    found = report(games, play_series(games, workers=workers, ray=ray))
    if found is None:
        raise TrainingError(f"no game of {candidate} against {start} could be completed; see the log")
    return found


def match_figures(report: ArenaReport) -> dict[str, float]:
    """The figures of the candidate for a card and the curves; missing ones are left out."""
    found = {name: getattr(report.challenger, name).value for name in _FIGURES}
    return {name: value for name, value in found.items() if value is not None} | {
        "games": float(report.games)
    }


def described(figures: Mapping[str, float]) -> str:
    """The figures of an evaluation in words.

    >>> described({"placement": 2.4512, "points": 1.25, "games": 400.0})
    'average placement 2.451, +1.25 points a game over 400 games'
    """
    placement, points, games = figures["placement"], figures["points"], figures["games"]
    return f"average placement {placement:.3f}, {points:+.2f} points a game over {games:.0f} games"


RUN: Final = "rl"
"""Name of the run's folder."""
CANDIDATE: Final = "candidate"
"""Subfolder of the run's folder with the policy that was evaluated last."""
_FIGURES: Final = ("placement", "points", "first", "fourth", "wins", "deal_ins", "riichi", "calls")
"""Fields of `learning.selfplay.figures.Side` that a candidate's card has."""
_CRASHES: Final = 0.01
"""Share of crashed games above which a run stops."""

_log = structlog.get_logger(__name__)


def learn_from_play(
    plan: ReinforcementPlan,
    start: Path,
    out: Path,
    *,
    workers: int | None = None,
    ray: str | None = None,
    quiet: bool = False,
) -> Card:
    """Improve a policy by self-play, or resume an interrupted run.

    Args:
        plan: the settings.
        start: folder of the six checkpoints to start from.
        out: folder of the best policy found, with all six; the run's state is in its subfolder ``runs/rl``.
        workers: actors; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.
        quiet: show no progress.

    Returns:
        The card of the best discard model.

    Raises:
        ConfigError: ``out`` holds a run of another plan or is ``start``, or there is no such cluster.
        CheckpointError: the start cannot be used.
        TrainingError: the state cannot be saved or read, or games crash.
        WorkerFailed: an actor could not continue.
        KeyboardInterrupt: a signal asked to stop; the state is saved.
    """
    with preparing(ReinforcementRun.title, quiet=quiet):
        run = ReinforcementRun(plan, start, out, workers=workers, ray=ray)
    try:
        carry_out(run, quiet=quiet)
    finally:
        run.close()
    return load(out, Slot.DISCARD).card


class ReinforcementRun:
    """A run for `learning.runs.loop`; each of its steps is a block of games.

    Args:
        plan: the settings.
        start: folder of the checkpoints to start from.
        out: folder of the best policy found.
        workers: actors; one per core if None.
        ray: address of a cluster to play on.
    """

    title = "self-play"
    unit = "games"
    patience = 0

    def __init__(
        self,
        plan: ReinforcementPlan,
        start: Path,
        out: Path,
        *,
        workers: int | None = None,
        ray: str | None = None,
    ) -> None:
        self.plan, self.start, self.out, self.commit = plan, start, out, current_commit()
        self._workers, self._ray = workers, ray
        self.files = files_of(start, Slot) | files_of(predictor_folder(start), ("reward",))
        self._predictor = load_predictor(predictor_folder(start))
        parents = {model: _model(start, model).card.tensors.sha256 for model in MODELS}
        self.folder = run_folder(out, RUN, plan, {"start": parents}, start)
        self.total = plan.rounded_games
        self.status = RunStatus()
        self.threads = torch.get_num_threads()
        begin = load(start, Slot.DISCARD)
        self._begin = begin.card
        self.learner = PolicyLearner(plan, begin.weights, begin.card, self.threads)
        self._versions = {0: pack(self.learner.acting())}
        self._decisions = 0
        self._actors: Actors | None = None

    def close(self) -> None:
        """Stop the actors and the learner's threads."""
        if self._actors is not None:
            self._actors.close()
        self.learner.close()

    @property
    def done(self) -> int:
        """Games learned from."""
        return self.status.samples

    @property
    def kept(self) -> bool:
        """Whether the folder has all six models."""
        return set(MODELS) <= set(models_in(self.out))

    def steps(self) -> Generator[StepResult]:
        """Learn from the blocks that remain."""
        plan, status = self.plan, self.status
        if status.step == plan.blocks:
            return
        self._actors = Actors(
            plan, self.files, self._versions, first=status.step, workers=self._workers, ray=self._ray
        )
        while status.step < plan.blocks:
            yield self._step(self._actors, status.step)

    def _step(self, actors: Actors, block: int) -> StepResult:
        plan, status = self.plan, self.status
        begun = time.monotonic()
        played = actors.block(block)
        waited = time.monotonic() - begun
        games = [game.trajectory for game in played if game.trajectory is not None]
        if len(played) - len(games) > max(1, _CRASHES * len(played)):
            raise TrainingError(f"{len(played) - len(games)} of {len(played)} games crashed; see the log")
        samples = samples_of(games, rewards_of(games, plan.reward, self._predictor, plan.length))
        curves = {f"policy/{name}": value for name, value in self.learner.learn(samples, block).items()}
        self._versions[block + 1] = pack(self.learner.acting())
        self._forget(block + 1)
        status.step += 1
        status.samples += len(played)
        self._decisions += len(samples.decisions)
        due = status.samples // plan.evaluate_every != (status.samples - len(played)) // plan.evaluate_every
        curves |= {f"play/{name}": value for name, value in _rates(played).items()}
        curves["play/staleness"] = float(block - version_for(plan, block))
        curves["speed/waited_s"] = waited
        curves["speed/games_per_s"] = len(played) / (time.monotonic() - begun)
        _log.debug("rl.block", block=block, **{name: float(f"{value:.4g}") for name, value in curves.items()})
        return StepResult(
            len(played),
            curves["policy/loss"],
            plan.rate(block, status.step * plan.steps - 1),
            due or status.step == plan.blocks,
            curves,
            _notes(curves),
        )

    def _forget(self, version: int) -> None:
        """Drop the versions with which no later block is played."""
        plan = self.plan
        against_past = plan.seats == "one" and plan.opponents == "past"
        kept = range(0, version + 1, plan.past) if against_past else ()
        first = version_for(plan, version)
        for each in [each for each in self._versions if each < first and each not in kept]:
            del self._versions[each]

    def evaluate(self) -> EvaluationResult:
        """Play the averaged weights against the start."""
        folder = self.folder.folder / CANDIDATE
        self._save(folder, {})
        found = against_start(self.plan, folder, self.start, self._workers, self._ray)
        figures, best = match_figures(found), self.status.best
        points, curves = figures["points"], {f"arena/{name}": value for name, value in figures.items()}
        logged = {f"arena_{name}": round(value, 4) for name, value in figures.items()}
        _log.info("rl.evaluation", after=self.done, **logged)
        return EvaluationResult(
            score=points,
            improved=best is None or points > best,
            text=described(figures),
            curves=curves,
            metrics=figures,
        )

    def keep(self, metrics: dict[str, float]) -> None:
        """Save the averaged weights as the best policy."""
        self._save(self.out, metrics)

    def _save(self, folder: Path, metrics: dict[str, float]) -> None:
        copy_policy(self.start, folder, self._card(metrics), self.learner.normal())

    def state(self) -> dict[str, Any]:
        """Everything needed to resume except the status."""
        versions = {str(number): _as_tensor(data) for number, data in self._versions.items()}
        return {"learner": self.learner.state(), "versions": versions, "decisions": self._decisions}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.learner.restore(state["learner"])
        self._versions = {int(each): data.numpy().tobytes() for each, data in state["versions"].items()}
        self._decisions = state["decisions"]

    def _card(self, metrics: dict[str, float]) -> Card:
        plan, status, begin, samples = self.plan, self.status, self._begin, self._decisions
        return Card(
            model=begin.model,
            architecture=begin.architecture,
            features=begin.features,
            without=begin.without,
            data=Data(players="self-play", games=status.samples, samples=samples),
            training=Training(
                samples=samples,
                steps=status.step * plan.steps,
                epochs=1.0,
                batch_size=samples // max(1, status.step * plan.steps),
                learning_rate=plan.learning_rate,
                seconds=round(status.seconds, 1),
                seed=plan.seed,
                commit=self.commit,
                precision=plan.precision,
                device=f"CPU, {self.threads} threads",
                torch=str(torch.__version__),
                settings=_settings(plan),
            ),
            metrics=metrics,
            parents=(begin.tensors.sha256,),
        )


def copy_policy(start: Path, folder: Path, card: Card, weights: Arrays) -> None:
    """Write all six checkpoints of a policy: the learned discard model, and the start's other models.

    Args:
        start: folder of the others.
        folder: created if missing; other models in it are replaced.
        card: of the discard model.
        weights: of the discard model.
    """
    for model in MODELS:
        if model != card.model:
            other = _model(start, model)
            # the folder may have been that of a run from another start
            if model not in models_in(folder) or load(folder, model).card.tensors != other.card.tensors:
                save(folder, other.card, other.arrays)
    save(folder, card, weights)


def _model(start: Path, model: Model) -> Checkpoint:
    """A model of a start, or the included reward predictor if it has none."""
    return load(predictor_folder(start) if model == "reward" else start, model)


def _rates(played: Sequence[LearnedGame]) -> Mapping[str, float]:
    """Statistics of the learning seats: rates per round, points a game, mean place."""
    learning = [
        (game.row, player)
        for game in played
        for player in range(4)
        if game.row.players[player] == 0 and not game.row.crash
    ]
    seats, rounds = max(1, len(learning)), max(1, sum(row.rounds for row, _ in learning))
    return {
        **{
            name: sum(getattr(row.tallies[player], name) for row, player in learning) / rounds
            for name in ("wins", "deal_ins", "riichi", "calls")
        },
        "points": sum(row.results[player] for row, player in learning) / 10.0 / seats,
        "placement": sum(row.places[player] for row, player in learning) / seats,
    }


def _notes(curves: Mapping[str, float]) -> dict[str, str]:
    """Statistics of a block shown beside the progress."""
    return {
        "entropy": f"{curves['policy/entropy']:.3f}",
        "kl": f"{curves['policy/divergence']:.2g}",
        "explained": f"{curves['policy/explained']:.1%}",
        "staleness": f"{curves['play/staleness']:.0f}",
    }


def _as_tensor(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def _settings(plan: ReinforcementPlan) -> dict[str, bool | int | float | str]:
    """The other settings for the card; without those that are not set."""
    left_out = {"games", "compute", "seed", "precision", "learning_rate"}
    return {
        name: value
        for name, value in msgspec.to_builtins(plan).items()
        if name not in left_out and value is not None
    }
