"""The common part of all runs over decisions of real games: data, steps, state and card."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

import torch

from kit.errors import ConfigError
from kit.processes import keep_freed_memory
from learning.data.choice import (
    SelectedDecisions,
    described,
    identity_table,
    repeated,
    seats,
    selected,
    times_of,
)
from learning.data.corpus import Corpus
from learning.data.layout import SPLIT_RULE, Split
from learning.data.loader import Batch, Loader
from learning.data.positions import count, first_games
from learning.runs.commit import current_commit
from learning.runs.learner import Learner, Samples
from learning.runs.loop import EvaluationResult, RunStatus, StepResult, carry_out, preparing, run_folder
from learning.train.first_weights import Parent
from learning.train.plan import SamplesPlan, learning_rate_at
from policies.checkpoint.card import Card, Data, Model, Training
from policies.checkpoint.store import load, models_in, save
from policies.features.table import HOSEI

_VALIDATION_BATCH: Final = 2048

PlanT = TypeVar("PlanT", bound=SamplesPlan)
SamplesT = TypeVar("SamplesT", bound=Samples)


class SamplesRun(ABC, Generic[PlanT, SamplesT]):
    """One run over decisions of real games; a subclass makes the learner, and evaluates it.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint.
        parent: the checkpoint to begin from; new weights if None.

    Attributes:
        hands: whether batches contain the hands of all players.
        moments: whether batches contain the place of each row in its game.
        begin: the parent's checkpoint; torch's generator is seeded for the weights it does not provide.
        learner: the network and its optimiser.
        threads: threads of the loader and the learner.

    Raises:
        ConfigError: no decision matches the selection, or the run would replace its parent.
        CheckpointError: the parent cannot be read.
    """

    unit = "samples"
    hands = moments = False

    def __init__(self, plan: PlanT, corpus: Corpus, out: Path, parent: Parent | None) -> None:
        self.parent = parent
        self.begin = load(parent.folder, parent.model) if parent is not None else None
        self.parents = (self.begin.card.tensors.sha256,) if self.begin is not None else ()
        self.model = cast("Model", str(plan.model))
        self.folder = run_folder(
            out,
            self.model,
            plan,
            {"corpus": corpus.card["content_sha256"], "parents": self.parents},
            parent.folder if parent is not None and parent.model == self.model else None,
        )
        self.plan, self.corpus, self.out, self.commit = plan, corpus, out, current_commit()
        self.title, self.patience = str(self.model), plan.patience
        self.choice = self.chosen("train")
        rows = samples_in(plan, corpus, self.choice, "train")
        self.rows = -(-rows // plan.one_in)
        self.last_step = steps_of(plan, self.rows)
        self.total = self.last_step * plan.batch_size
        self.threads = torch.get_num_threads()
        self.loader = self._loader(self.choice, plan.batch_size, augment=plan.augment, seed=plan.seed)
        choice, rows = self.chosen("validation"), min(_VALIDATION_BATCH, plan.validation_rows)
        samples_in(plan, corpus, choice, "validation")
        self.validation = self._loader(choice, rows, augment=False, seed=0)
        self.status = RunStatus()
        torch.manual_seed(plan.seed)
        self.learner = self.first_learner()

    def chosen(self, split: Split) -> SelectedDecisions:
        """The decisions of a split to learn from."""
        return choice_of(self.plan, self.corpus, split)

    def _loader(self, choice: SelectedDecisions, batch_size: int, *, augment: bool, seed: int) -> Loader:
        plan = self.plan
        return Loader(
            self.corpus,
            choice,
            plan.slot,
            features=plan.features,
            deep=plan.deep,
            batch_size=batch_size,
            seed=seed,
            augment=augment,
            hands=self.hands,
            moments=self.moments,
            identities=plan.known,
            one_in=plan.one_in,
            workers=self.threads,
        )

    @abstractmethod
    def first_learner(self) -> Learner[SamplesT]:
        """The network in training, before its first step."""

    @abstractmethod
    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> SamplesT:
        """Convert a batch of the loader to one of the learner.

        Args:
            batch: from the loader.
            draw: seed of its random numbers.
        """

    @abstractmethod
    def evaluate(self) -> EvaluationResult:
        """Measure the averaged weights on the validation split."""

    def judged_by(
        self, loss: float, text: str, curves: dict[str, float], metrics: dict[str, float]
    ) -> EvaluationResult:
        """The result of an evaluation whose loss is the score; the others are shown beside it."""
        best = self.status.best
        return EvaluationResult(
            score=loss,
            improved=best is None or loss < best,
            text=text,
            curves={"validation/loss": loss, **curves},
            metrics={"loss": loss, **metrics},
        )

    @property
    def done(self) -> int:
        """Samples learned from."""
        return self.status.samples

    @property
    def kept(self) -> bool:
        """Whether the folder has the model."""
        return self.model in models_in(self.out)

    def steps(self) -> Generator[StepResult]:
        """Learn from the batches that remain."""
        status = self.status
        while status.step < self.last_step:
            for batch in self.loader.epoch(status.epoch, start=status.batch):
                yield self._step(batch)
                if status.step >= self.last_step:
                    return
            status.epoch, status.batch = status.epoch + 1, 0

    def validation_batches(self) -> Iterator[SamplesT]:
        """The batches of a validation, the same every time."""
        rows = 0
        batches = self.validation.epoch(0)
        for number, batch in enumerate(batches):
            yield self.prepared(batch, (0, 1, number))
            rows += len(batch.labels)
            if rows >= self.plan.validation_rows:
                break
        batches.close()

    def _step(self, batch: Batch) -> StepResult:
        status, rows, every = self.status, len(batch.labels), self.plan.validate_every
        rate = learning_rate_at(self.plan, status.step, self.last_step)
        loss = self.learner.step(self.prepared(batch, (self.plan.seed, 0, status.step)), status.step, rate)
        status.step += 1
        status.batch += 1
        status.samples += rows
        due = status.samples // every != (status.samples - rows) // every
        return StepResult(rows, loss, rate, evaluate=due or status.step == self.last_step)

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
            model=self.model,
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
                settings=self.settings(),
            ),
            metrics=metrics,
            parents=self.parents,
        )

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        return {
            name: getattr(self.plan, name)
            for name in ("weight_decay", "warm_up", "averaging", "augment", "passes", "validate_every")
        }


def train(
    begin: Callable[[PlanT, Corpus, Path, Parent | None], SamplesRun[PlanT, Any]],
    plan: PlanT,
    corpus: Corpus,
    out: Path,
    *,
    parent: Parent | None = None,
    quiet: bool = False,
) -> Card:
    """Train a model, or resume an interrupted run.

    Args:
        begin: makes the run from the other arguments.
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint; the run's state and curves are in its subfolder ``runs/<model>``.
        parent: the checkpoint to begin from; new weights if None.
        quiet: show no progress.

    Returns:
        The card of the kept checkpoint.

    Raises:
        ConfigError: no decision matches the selection, the folder holds another run or the checkpoint to
            begin from, or tensorboard is missing.
        CheckpointError: the checkpoint to begin from cannot be read or does not fit.
        TrainingError: the state cannot be saved or read.
        KeyboardInterrupt: a signal asked to stop; the state is saved.
    """
    keep_freed_memory()
    with preparing(str(plan.model), quiet=quiet):
        run = begin(plan, corpus, out, parent)
    try:
        carry_out(run, quiet=quiet)
    finally:
        run.learner.close()
    return load(run.out, run.model).card


def choice_of(plan: SamplesPlan, corpus: Corpus, split: Split) -> SelectedDecisions:
    """The decisions of a split that a plan selects; share, number and favour apply to training games alone.

    Raises:
        ConfigError: there are none.
    """
    chosen = plan.selection
    choice = selected(corpus, chosen, split)
    if not len(choice.games):
        raise ConfigError(f"no game matches; split {split}, {described(chosen)}")
    if split == "train":
        _check_names(plan, corpus, choice)
        if chosen.decisions:
            choice = first_games(corpus, choice, plan.slot, chosen.decisions)
        if chosen.favour:
            choice = repeated(corpus, choice, times_of(chosen))
    return choice


def samples_in(plan: SamplesPlan, corpus: Corpus, choice: SelectedDecisions, split: Split) -> int:
    """The number of samples in what `choice_of` returned.

    Raises:
        ConfigError: there are none.
    """
    counted = count(corpus, choice, plan.slot)
    if not counted.decisions:
        raise ConfigError(f"no chosen game of the {split} split holds a decision for the {plan.model} model")
    return counted.decisions if plan.features == HOSEI else counted.rows


def _check_names(plan: SamplesPlan, corpus: Corpus, choice: SelectedDecisions) -> None:
    """Check that each player to tell apart or to favour decides in some of the games.

    Raises:
        ConfigError: one does not.
    """
    names = tuple(dict.fromkeys((*plan.known, *times_of(plan.selection))))
    there = set(identity_table(corpus, names)[choice.games][seats(choice.players)].tolist())
    if missing := [name for place, name in enumerate(names) if place not in there]:
        raise ConfigError(
            f"no player in the chosen games is {' or '.join(missing)}; give official AI accounts by name "
            "without the mark, such as LuckyJ, and others by rank, such as 7-dan"
        )


def steps_of(plan: SamplesPlan, rows: int) -> int:
    """Number of steps a plan takes over ``rows`` rows.

    >>> from learning.train.plan import make_plan
    >>> plan = make_plan("discard", passes=1.5)
    >>> steps_of(plan, 1024), steps_of(plan, 1025)
    (3, 5)
    """
    steps = math.ceil(plan.passes * math.ceil(rows / plan.batch_size))
    return min(steps, math.ceil(plan.samples / plan.batch_size)) if plan.samples else steps


def device_name(device: torch.device, threads: int) -> str:
    """The device of a run, for its card."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {threads} threads"
