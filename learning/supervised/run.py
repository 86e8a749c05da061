"""Supervised learning of the five models from the compact corpus.

A run is defined by its `TrainingPlan`. Its state is kept in a folder of its own, so that a run killed at any
moment resumes where it was and ends with the same numbers. The weights that are best on the validation split
are kept as the checkpoint of the model.

Source: Suphx, arXiv:2003.13590, section 3 and table 3.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import torch

from game.errors import ConfigError
from learning.corpus.layout import SPLIT_RULE, Split
from learning.corpus.reader import Corpus
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult, RunStatus, StepResult, carry_out, check_packages, run_folder
from learning.runs.memory import keep_freed_memory
from learning.samples.choice import SelectedDecisions, choose
from learning.samples.loader import Batch, Loader
from learning.samples.positions import count, first_games
from learning.supervised.first_weights import first_network
from learning.supervised.imitation import agrees, imitation_loss
from learning.supervised.plan import Selection, TrainingPlan, learning_rate_at
from policies.checkpoint import Card, Data, Training, load, save
from policies.features.table import HOSEI
from policies.slots import Slot

_VALIDATION_BATCH: Final = 2048


class Parent(NamedTuple):
    """A checkpoint to begin from: its folder, and its model."""

    folder: Path
    model: Slot


class ValidationScores(msgspec.Struct, frozen=True):
    """Result of a validation.

    Attributes:
        accuracy: share of rows where the answer was the player's.
        loss: mean cross-entropy in nats.
        rows: number of rows.
    """

    accuracy: float
    loss: float
    rows: int


def train(
    plan: TrainingPlan,
    corpus: Corpus,
    out: Path,
    *,
    parent: Parent | None = None,
    commit: str = "",
    quiet: bool = False,
) -> Card:
    """Train a model, or resume an interrupted run.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint; the run's state and curves are in its subfolder ``runs/<model>``.
        parent: the checkpoint to begin from; new weights if None.
        commit: commit of the code, for the card.
        quiet: show no progress.

    Returns:
        The card of the kept checkpoint.

    Raises:
        ConfigError: no decision matches the selection, ``out`` holds a run of another plan, or tensorboard is
            missing.
        CheckpointError: the parent cannot be read or does not fit.
        TrainingError: the state cannot be saved or read.
        KeyboardInterrupt: a signal asked to stop; the state is saved.
    """
    check_packages()
    keep_freed_memory()
    run = _SupervisedRun(plan, corpus, out, parent, commit)
    try:
        carry_out(run, quiet=quiet)
    finally:
        run.learner.close()
    return load(out, plan.model).card


def choice_of(plan: TrainingPlan, corpus: Corpus, split: Split) -> SelectedDecisions:
    """The decisions of a split that a plan selects; its share and number apply to the training games alone.

    Raises:
        ConfigError: there are none.
    """
    chosen = plan.selection
    games = corpus.select(split=split, rooms=chosen.rooms) if chosen.rooms else corpus.select(split=split)
    choice = choose(
        corpus,
        games,
        least_rank=chosen.least_rank if chosen.least_rank >= 0 else None,
        player=chosen.player or None,
        ai=chosen.ai,
        share=chosen.share if split == "train" else 1.0,
    )
    if not len(choice.games):
        raise ConfigError(f"no game of the {split} split matches {msgspec.json.encode(chosen).decode()}")
    if split == "train" and chosen.decisions:
        return first_games(corpus, choice, plan.model, chosen.decisions)
    return choice


def parent_of(plan: TrainingPlan, continue_from: Path | None, tower_from: Path | None) -> Parent | None:
    """The checkpoint to begin from, according to the user's flags.

    Raises:
        ConfigError: both flags are given, or the discard model is to take its own tower.
    """
    if continue_from is not None and tower_from is not None:
        raise ConfigError("--continue-from and --tower-from: give only one of them")
    if tower_from is not None and plan.model is Slot.DISCARD:
        raise ConfigError("--tower-from: not for the discard model; use --continue-from")
    if tower_from is not None:
        return Parent(tower_from, Slot.DISCARD)
    return None if continue_from is None else Parent(continue_from, plan.model)


class _SupervisedRun:
    """One run: its data, its learner, and how both are used."""

    unit = "samples"

    def __init__(
        self, plan: TrainingPlan, corpus: Corpus, out: Path, parent: Parent | None, commit: str
    ) -> None:
        begin = load(*parent) if parent is not None else None
        self.parents = (begin.card.tensors.sha256,) if begin is not None else ()
        self.folder = run_folder(
            out,
            plan.model,
            {
                "plan": msgspec.to_builtins(plan),
                "corpus": corpus.card["content_sha256"],
                "parents": self.parents,
            },
            added={
                "plan.tower": "residual",
                "plan.squeeze": 0,
                "plan.normalised": True,
                "plan.selection.decisions": 0,
            },
        )
        self.plan, self.corpus, self.out, self.commit = plan, corpus, out, commit
        self.title, self.patience = str(plan.model), plan.patience
        self.choice = choice_of(plan, corpus, "train")
        counted = count(corpus, self.choice, plan.model)
        self.rows = counted.decisions if plan.features == HOSEI else counted.rows
        if not self.rows:
            raise ConfigError(f"none of the chosen games holds a decision for the {plan.model} model")
        self.last_step = steps_of(plan, self.rows)
        self.total = self.last_step * plan.batch_size
        self.threads = torch.get_num_threads()
        self.loader = self._loader(self.choice, plan.batch_size, augment=plan.augment, seed=plan.seed)
        self.validation = self._loader(
            choice_of(plan, corpus, "validation"), _VALIDATION_BATCH, augment=False, seed=0
        )
        self.status = RunStatus()
        torch.manual_seed(plan.seed)
        self.learner = Learner(first_network(plan, begin), plan, self.threads, loss=imitation_loss)

    def _loader(self, choice: SelectedDecisions, batch_size: int, *, augment: bool, seed: int) -> Loader:
        plan = self.plan
        return Loader(
            self.corpus,
            choice,
            plan.model,
            features=plan.features,
            deep=plan.deep,
            batch_size=batch_size,
            seed=seed,
            augment=augment,
            workers=self.threads,
        )

    @property
    def done(self) -> int:
        """Samples learned from."""
        return self.status.samples

    def steps(self) -> Generator[StepResult]:
        """Learn from the batches that remain."""
        status = self.status
        while status.step < self.last_step:
            for batch in self.loader.epoch(status.epoch, start=status.batch):
                yield self._step(batch)
                if status.step >= self.last_step:
                    return
            status.epoch, status.batch = status.epoch + 1, 0

    def _step(self, batch: Batch) -> StepResult:
        status, rows, every = self.status, len(batch.labels), self.plan.validate_every
        rate = learning_rate_at(self.plan, status.step, self.last_step)
        loss = self.learner.step(batch, status.step, rate)
        status.step += 1
        status.batch += 1
        status.samples += rows
        due = status.samples // every != (status.samples - rows) // every
        return StepResult(rows, loss, rate, evaluate=due or status.step == self.last_step)

    def evaluate(self) -> EvaluationResult:
        """Accuracy of the averaged weights on the validation split."""
        found, best = self._validate(), self.status.best
        return EvaluationResult(
            score=found.accuracy,
            improved=best is None or found.accuracy > best,
            text=f"{found.accuracy:.2%}, loss {found.loss:.4f}",
            curves={"validation/loss": found.loss, "validation/accuracy": found.accuracy},
            metrics={"accuracy": found.accuracy, "loss": found.loss, "rows": found.rows},
        )

    def _validate(self) -> ValidationScores:
        right, loss, rows = 0, 0.0, 0
        batches = self.validation.epoch(0)
        for batch in batches:
            scores = self.learner.scores(batch)
            size = len(batch.labels)
            loss += float(imitation_loss(scores, batch)) * size
            right, rows = right + int(agrees(scores, batch).sum()), rows + size
            if rows >= self.plan.validation_rows:
                break
        batches.close()
        return ValidationScores(right / max(1, rows), loss / max(1, rows), rows)

    def state(self) -> dict[str, Any]:
        """Everything needed to resume except the status."""
        return self.learner.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.learner.restore(state)

    def keep(self, metrics: dict[str, float]) -> None:
        """Save the averaged weights as the checkpoint."""
        save(self.out, self._card(metrics), self.learner.weights())

    def _card(self, metrics: dict[str, float]) -> Card:
        plan, status = self.plan, self.status
        return Card(
            model=plan.model.value,
            architecture=self.learner.network.architecture,
            features=plan.features,
            without=plan.without,
            data=Data(
                corpus=self.corpus.card["content_sha256"],
                split=f"train ({SPLIT_RULE})",
                players=described(plan.selection),
                games=len(self.choice.games),
                samples=self.rows,
            ),
            training=Training(
                samples=status.samples,
                steps=status.step,
                epochs=status.epoch + status.batch / math.ceil(self.rows / plan.batch_size),
                batch_size=plan.batch_size,
                learning_rate=plan.learning_rate,
                seconds=round(status.seconds, 1),
                seed=plan.seed,
                commit=self.commit,
                precision=plan.precision,
                device=device_name(self.learner.device, self.threads),
                torch=str(torch.__version__),
                settings=_settings(plan),
            ),
            metrics=metrics,
            parents=self.parents,
        )


# --- figures that follow from a plan -----------------------------------------------------------------------


def steps_of(plan: TrainingPlan, rows: int) -> int:
    """Number of steps a plan takes over ``rows`` rows.

    >>> from learning.supervised.plan import make_plan
    >>> plan = make_plan("discard", passes=1.5)
    >>> steps_of(plan, 1024), steps_of(plan, 1025)
    (3, 5)
    """
    steps = math.ceil(plan.passes * math.ceil(rows / plan.batch_size))
    return min(steps, math.ceil(plan.samples / plan.batch_size)) if plan.samples else steps


def described(selection: Selection) -> str:
    """A selection in words.

    >>> described(Selection()), described(Selection(rooms=("houou",), least_rank=16, share=0.1))
    ('all players', 'rooms houou, rank 16 or more, 10 % of the games')
    """
    parts = []
    if selection.rooms:
        parts.append(f"rooms {', '.join(selection.rooms)}")
    if selection.least_rank >= 0:
        parts.append(f"rank {selection.least_rank} or more")
    if selection.player:
        parts.append(f"the player {selection.player}")
    if selection.ai is not None:
        parts.append("official AI accounts" if selection.ai else "people")
    if selection.decisions:
        parts.append(f"games of {selection.decisions:,} decisions")
    if selection.share < 1.0:
        parts.append(f"{100 * selection.share:g} % of the games")
    return ", ".join(parts) or "all players"


def device_name(device: torch.device, threads: int) -> str:
    """The device of a run, for its card."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {threads} threads"


def _settings(plan: TrainingPlan) -> dict[str, bool | int | float | str]:
    """The other settings that determine the numbers of a run."""
    return {
        name: getattr(plan, name)
        for name in ("weight_decay", "warm_up", "averaging", "augment", "passes", "validate_every")
    }
