"""Supervised learning of the five models from the compact corpus.

A run is defined by its `Plan`. Its state is kept in a folder of its own, so that a run killed at any moment
resumes where it was and ends with the same numbers. The weights that are best on the validation split are
kept as the checkpoint of the model.

Source: Suphx, arXiv:2003.13590, section 3 and table 3.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

import msgspec
import torch

from game.distribution import require
from game.errors import ConfigError
from learning.corpus.layout import SPLIT_RULE, Split
from learning.corpus.reader import Corpus
from learning.runs.progress import TrainingProgress
from learning.runs.state import RunFolder
from learning.samples.choice import Choice, choose
from learning.samples.loader import Batch, Loader
from learning.samples.positions import count
from learning.supervised.first_weights import first_network
from learning.supervised.learner import Learner, learning_rate_at
from learning.supervised.plan import Plan, Selection
from policies.checkpoint import Card, Data, Training, load, save
from policies.slots import Slot

SAVE_EVERY_S: Final = 120.0
"""Seconds between two saves of a run's state; a kill loses no more than this."""
CURVE_STEPS: Final = 20
"""Steps between two points of the training curves, which show the mean loss over them."""
RUNS_FOLDER: Final = "runs"

_VALIDATION_BATCH: Final = 2048
_AT_ONCE: Final = (
    f"stopped at once: what was learned since the last save, {SAVE_EVERY_S:.0f} s at most, is lost; "
    "give the same command again to resume"
)


class Parent(NamedTuple):
    """A checkpoint to begin from: its folder, and its model."""

    folder: Path
    model: Slot


class Scores(msgspec.Struct, frozen=True):
    """Result of a validation.

    Attributes:
        accuracy: share of rows where the answer was the player's.
        loss: mean cross-entropy in nats.
        rows: number of rows.
    """

    accuracy: float
    loss: float
    rows: int


class Standing(msgspec.Struct, kw_only=True):
    """Progress of a run; saved with its weights.

    Attributes:
        step: steps done.
        epoch: passes completed.
        batch: batches of the current pass done.
        samples: samples learned from.
        seconds: time spent, over all starts.
        best: best accuracy of the validations.
        worse: validations since the best.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    samples: int = 0
    seconds: float = 0.0
    best: float = -1.0
    worse: int = 0


def train(
    plan: Plan,
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
    require("tensorboard", "`suzaku train`")
    run = _Run(plan, corpus, out, parent, commit)
    try:
        run.resume()
        run.learn(quiet=quiet)
    finally:
        run.learner.close()
    return load(out, plan.model).card


def choice_of(plan: Plan, corpus: Corpus, split: Split) -> Choice:
    """The decisions of a split that a plan selects; its share applies to the training games alone.

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
    return choice


def parent_of(plan: Plan, continue_from: Path | None, tower_from: Path | None) -> Parent | None:
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


class _Run:
    """One run: its data, and its loop."""

    def __init__(self, plan: Plan, corpus: Corpus, out: Path, parent: Parent | None, commit: str) -> None:
        self.plan, self.corpus, self.out, self.commit = plan, corpus, out, commit
        self.choice = choice_of(plan, corpus, "train")
        self.rows = count(corpus, self.choice, plan.model).rows
        if not self.rows:
            raise ConfigError(f"none of the chosen games holds a decision for the {plan.model} model")
        self.steps = steps_of(plan, self.rows)
        torch.manual_seed(plan.seed)
        begin = load(*parent) if parent is not None else None
        self.parents = (begin.card.tensors.sha256,) if begin is not None else ()
        self.threads = torch.get_num_threads()
        self.learner = Learner(first_network(plan, begin), plan, self.threads)
        self.loader = self._loader(self.choice, plan.batch_size, augment=plan.augment, seed=plan.seed)
        self.validation = self._loader(
            choice_of(plan, corpus, "validation"), _VALIDATION_BATCH, augment=False, seed=0
        )
        self.standing = Standing()
        self.folder = RunFolder(
            out / RUNS_FOLDER / plan.model,
            {
                "plan": msgspec.to_builtins(plan),
                "corpus": corpus.card["content_sha256"],
                "parents": self.parents,
            },
        )

    def _loader(self, choice: Choice, batch_size: int, *, augment: bool, seed: int) -> Loader:
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

    # --- the loop -----------------------------------------------------------------------------------------

    def learn(self, *, quiet: bool) -> None:
        """Train to the end of the plan.

        Raises:
            KeyboardInterrupt: a signal asked to stop; the state is saved.
        """
        plan, standing = self.plan, self.standing
        begun = saved = time.monotonic()
        before = standing.seconds
        progress = TrainingProgress(
            str(plan.model), self.steps * plan.batch_size, standing.samples, quiet=quiet
        )
        with _noticing_signals() as stopped, progress, self.folder.curves(standing.step) as curves:
            losses: list[float] = []
            for batch in self._batches():
                rate, loss = self._step(batch)
                losses.append(loss)
                standing.seconds = before + time.monotonic() - begun
                progress.learned(len(batch.labels), loss)
                due = self._is_due(len(batch.labels))
                if due or standing.step % CURVE_STEPS == 0:
                    curves.add(standing.step, _training_curves(losses, rate, progress.speed))
                    losses = []
                if due:
                    scores = self._validate()
                    progress.validated(f"{scores.accuracy:.2%}, loss {scores.loss:.4f}")
                    curves.add(standing.step, _validation_curves(scores))
                    self._keep_if_best(scores)
                if stopped.is_set() or time.monotonic() - saved > SAVE_EVERY_S:
                    self._save()
                    saved = time.monotonic()
                if stopped.is_set():
                    raise KeyboardInterrupt(self._left_off)
        self._save()

    @property
    def _left_off(self) -> str:
        """Message for an interrupted run."""
        done, of = self.standing.samples, self.steps * self.plan.batch_size
        return (
            f"stopped: {done:,} of {of:,} samples are learned and saved in {self.folder.folder}; "
            "give the same command again to resume"
        )

    def _batches(self) -> Iterator[Batch]:
        """The remaining batches of the run, counted as they are taken."""
        standing = self.standing
        while not self._is_over():
            for batch in self.loader.epoch(standing.epoch, start=standing.batch):
                standing.batch += 1
                yield batch
                if self._is_over():
                    return
            standing.epoch, standing.batch = standing.epoch + 1, 0

    def _is_over(self) -> bool:
        standing, patience = self.standing, self.plan.patience
        return standing.step >= self.steps or (patience > 0 and standing.worse >= patience)

    def _is_due(self, rows: int) -> bool:
        """Whether to validate after a step of ``rows`` rows."""
        done, every = self.standing.samples, self.plan.validate_every
        return self.standing.step == self.steps or done // every != (done - rows) // every

    def _step(self, batch: Batch) -> tuple[float, float]:
        """Learn from a batch; return the learning rate and the loss."""
        standing = self.standing
        rate = learning_rate_at(self.plan, standing.step, self.steps)
        loss = self.learner.step(batch, standing.step, rate)
        standing.step += 1
        standing.samples += len(batch.labels)
        return rate, loss

    def _validate(self) -> Scores:
        right, loss, rows = 0, 0.0, 0
        batches = self.validation.epoch(0)
        for batch in batches:
            mean, hits = self.learner.examine(batch)
            size = len(batch.labels)
            right, loss, rows = right + hits, loss + mean * size, rows + size
            if rows >= self.plan.validation_rows:
                break
        batches.close()
        return Scores(right / max(1, rows), loss / max(1, rows), rows)

    # --- saved state --------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Restore the saved state, if there is one.

        Raises:
            ConfigError: it is another run's.
            TrainingError: it cannot be read.
        """
        state = self.folder.load()
        if state is None:
            return
        self.learner.restore(state)
        self.standing = msgspec.convert(state["standing"], Standing)

    def _save(self) -> None:
        self.folder.save({**self.learner.state(), "standing": msgspec.to_builtins(self.standing)})

    def _keep_if_best(self, scores: Scores) -> None:
        standing = self.standing
        if scores.accuracy <= standing.best:
            standing.worse += 1
            return
        standing.best, standing.worse = scores.accuracy, 0
        save(self.out, self._card(scores), self.learner.weights())

    def _card(self, scores: Scores) -> Card:
        plan, standing = self.plan, self.standing
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
                samples=standing.samples,
                steps=standing.step,
                epochs=standing.epoch + standing.batch / math.ceil(self.rows / plan.batch_size),
                batch_size=plan.batch_size,
                learning_rate=plan.learning_rate,
                seconds=round(standing.seconds, 1),
                seed=plan.seed,
                commit=self.commit,
                precision=plan.precision,
                device=device_name(self.learner.device, self.threads),
                torch=str(torch.__version__),
                settings=_settings(plan),
            ),
            metrics={"accuracy": scores.accuracy, "loss": scores.loss, "rows": scores.rows},
            parents=self.parents,
        )


# --- figures that follow from a plan -----------------------------------------------------------------------


def steps_of(plan: Plan, rows: int) -> int:
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
    if selection.share < 1.0:
        parts.append(f"{100 * selection.share:g} % of the games")
    return ", ".join(parts) or "all players"


def device_name(device: torch.device, threads: int) -> str:
    """The device of a run, for its card."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU, {threads} threads"


def _settings(plan: Plan) -> dict[str, bool | int | float | str]:
    """The other settings that determine the numbers of a run."""
    return {
        name: getattr(plan, name)
        for name in ("weight_decay", "warm_up", "averaging", "augment", "passes", "validate_every")
    }


def _training_curves(losses: Sequence[float], rate: float, speed: float) -> dict[str, float]:
    """A point of the training curves, from the losses since the last point."""
    return {
        "training/loss": sum(losses) / len(losses),
        "training/learning_rate": rate,
        "training/samples_per_s": speed,
    }


def _validation_curves(scores: Scores) -> dict[str, float]:
    return {"validation/loss": scores.loss, "validation/accuracy": scores.accuracy}


@contextmanager
def _noticing_signals() -> Iterator[threading.Event]:
    """An event set by the first Ctrl-C or SIGTERM; a second Ctrl-C interrupts at once, without saving."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def note(number: int, _: FrameType | None) -> None:
        if stopped.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt(_AT_ONCE)
        stopped.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
