"""The loop of every training run: resume, step, evaluate, save, show progress, and stop on a signal.

A `TrainingRun` defines steps and evaluation; the loop does the rest. The state is kept in the run's folder,
so that a run killed at any moment resumes where it was and ends with the same numbers.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import structlog

from kit.distribution import require
from kit.errors import ConfigError, TrainingError
from kit.jit import kernels, watched_compiler
from learning.runs.progress import Progress, TrainingProgress
from learning.runs.state import Curves, RunFolder
from policies.nets.identities import split_identity

SAVE_EVERY_S: Final = 120.0
"""Seconds between two saves of a run's state; a kill loses the steps since the last one."""
CURVE_STEPS: Final = 20
"""Steps between two points of the training curves, which show the mean loss over them."""
RUNS_FOLDER: Final = "runs"
"""Subfolder of the checkpoint's folder that holds a folder for each run."""

_SAVING_S: Final = 6.0
"""If a save takes longer, as one of gigabytes may, the interval grows in proportion."""
_STATUS: Final = "status"
"""Name of the status in a saved state."""
_AT_ONCE: Final = (
    f"stopped at once: what was learned since the last save, usually {SAVE_EVERY_S:.0f} s at most, is lost; "
    "give the same command again to resume"
)
_TOO_EARLY: Final = "stopped before a step was done; nothing is lost"

_log = structlog.get_logger(__name__)


class RunStatus(msgspec.Struct, kw_only=True):
    """Progress of a run, saved with its weights.

    Attributes:
        step: steps done.
        epoch: passes completed.
        batch: batches of the current pass done.
        samples: samples learned from.
        seconds: time spent, over all starts.
        best: best score of the evaluations; None before the first.
        worse: evaluations since the best.
        unmeasured: an evaluation is due, and its result is not in yet.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    samples: int = 0
    seconds: float = 0.0
    best: float | None = None
    worse: int = 0
    unmeasured: bool = False


class StepResult(NamedTuple):
    """Result of a step.

    Attributes:
        samples: how many it adds to the run's `done`.
        loss: their mean loss.
        rate: the learning rate.
        evaluate: whether to evaluate now.
        curves: further values for the curves, by name.
        notes: shown beside the progress, by name.
    """

    samples: int
    loss: float
    rate: float
    evaluate: bool
    curves: Mapping[str, float] = {}
    notes: Mapping[str, str] = {}


class EvaluationResult(NamedTuple):
    """Result of an evaluation.

    Attributes:
        score: becomes `RunStatus.best` if improved.
        improved: whether the score is better than the best one so far.
        text: shown beside the progress.
        curves: values for the curves, by name.
        metrics: figures for the checkpoint's card.
    """

    score: float
    improved: bool
    text: str
    curves: Mapping[str, float]
    metrics: dict[str, float]


class TrainingRun(Protocol):
    """A run: its steps, its evaluation, and its state.

    Attributes:
        title: name shown with the progress.
        unit: unit of `total`.
        folder: holds the run's state and curves.
        status: how far the run is. `steps` counts steps, passes, batches and samples; the loop does the rest.
        patience: evaluations without improvement after which the run stops; 0 for never.
        total: samples of the whole run, or games, as `unit` says.
    """

    title: str
    unit: str
    folder: RunFolder
    status: RunStatus
    patience: int
    total: int

    @property
    def done(self) -> int:
        """Samples done, of `total`."""

    @property
    def kept(self) -> bool:
        """Whether the checkpoint that `keep` saved still exists."""

    def steps(self) -> Generator[StepResult]:
        """The steps that remain, each taken when it is asked for."""

    def evaluate(self) -> EvaluationResult:
        """Measure the weights as they are."""

    def keep(self, metrics: dict[str, float]) -> None:
        """Save the weights as the run's checkpoint: they are the best so far."""

    def state(self) -> dict[str, Any]:
        """Weights and optimiser; everything needed to resume except the status."""

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""


@contextmanager
def preparing(title: str, *, quiet: bool) -> Iterator[None]:
    """Show that a run begins, while its data is prepared and kernels compile, which may take minutes.

    Args:
        title: the model in training.
        quiet: show nothing.

    Raises:
        ConfigError: tensorboard is missing, which draws the curves.
    """
    require("tensorboard", "`suzaku train`")
    with (
        Progress("train.preparing", title, "kernels", quiet=quiet) as progress,
        watched_compiler(lambda _: progress.reach(*kernels())),
    ):
        try:
            yield
        except KeyboardInterrupt as exc:
            raise KeyboardInterrupt(_TOO_EARLY) from exc


def run_folder(
    out: Path, model: str, plan: msgspec.Struct, others: Mapping[str, Any], begin: Path | None = None
) -> RunFolder:
    """The folder of a run.

    Args:
        out: folder of the checkpoint.
        model: the model in training.
        plan: the settings.
        others: what else determines the run's numbers, as plain values.
        begin: folder of the checkpoint of this model to begin from, if there is one.

    Raises:
        ConfigError: the run would replace the checkpoint that it begins from.
    """
    if begin is not None and split_identity(begin)[0].resolve() == out.resolve():
        raise ConfigError(f"--out {out}: the checkpoint to begin from is there; choose another folder")
    return RunFolder(out / RUNS_FOLDER / model, plan, others)


def carry_out(run: TrainingRun, *, quiet: bool = False) -> None:
    """Carry out a run, from the state that an earlier start saved.

    Args:
        run: the run.
        quiet: show no progress.

    Raises:
        ConfigError: the folder holds another run, or another process has it.
        TrainingError: the state cannot be saved or read.
        KeyboardInterrupt: a signal asked to stop; the state is saved.
    """
    with run.folder.held():
        _resume(run)
        try:
            _carry_on(run, quiet=quiet)
        except OSError as exc:
            raise TrainingError(
                f"stopped: {exc}; what is saved in {run.folder.folder} is intact: free some space if the "
                "disk is full, and give the same command again"
            ) from exc


def _carry_on(run: TrainingRun, *, quiet: bool) -> None:
    status = run.status
    progress = TrainingProgress(run.title, run.unit, run.total, run.done, quiet=quiet)
    begun = saved = time.monotonic()
    before, pause, first = status.seconds, SAVE_EVERY_S, status.step
    with (
        _noticing_signals(run, lambda: status.step > first or not progress.compiles) as stopped,
        progress,
        watched_compiler(progress.compiling),
        run.folder.curves(status.step) as curves,
    ):
        drawing = _TrainingCurves(curves, progress)
        if status.unmeasured:
            _evaluate(run, progress, curves)
        for step in _remaining(run):
            status.seconds = before + time.monotonic() - begun
            progress.note(**step.notes)
            progress.learned(step.samples, step.loss)
            drawing.add(status.step, step)
            status.unmeasured = step.evaluate
            if step.evaluate or stopped.is_set() or time.monotonic() - saved > pause:
                pause = SAVE_EVERY_S * max(1.0, _save(run) / _SAVING_S)
                saved = time.monotonic()
            if step.evaluate and not stopped.is_set():
                _evaluate(run, progress, curves)
                if stopped.is_set():
                    _save(run)
            if stopped.is_set():
                raise KeyboardInterrupt(
                    f"stopped: {run.done:,} of {run.total:,} {run.unit} are learned and saved in "
                    f"{run.folder.folder}; give the same command again to resume"
                )
    _save(run)


def _remaining(run: TrainingRun) -> Iterator[StepResult]:
    """The steps of a run until it is over or out of patience."""
    with closing(run.steps()) as steps:
        while not 0 < run.patience <= run.status.worse:
            step = next(steps, None)
            if step is None:
                return
            yield step


def _evaluate(run: TrainingRun, progress: TrainingProgress, curves: Curves) -> None:
    """Measure the weights, and keep them if they are the best."""
    progress.note(validation="under way")
    status, found = run.status, run.evaluate()
    status.unmeasured = False
    progress.validated(found.text)
    curves.add(status.step, found.curves)
    if not found.improved:
        status.worse += 1
        return
    status.best, status.worse = found.score, 0
    run.keep(found.metrics)


def _resume(run: TrainingRun) -> None:
    state = run.folder.load()
    if state is None:
        return
    try:
        run.status = msgspec.convert(state.pop(_STATUS), RunStatus)
        run.restore(state)
    except Exception as exc:  # each part of a run raises its own
        what = f"it has no {exc}" if isinstance(exc, KeyError) else str(exc).partition("\n")[0]
        raise TrainingError(
            f"{run.folder.folder}: the saved state is incomplete ({what}); remove that folder to start again"
        ) from exc
    if run.status.best is not None and not run.kept:
        _log.warning("training.best_is_gone", score=round(run.status.best, 4), then="the next best is kept")
        run.status.best = None


def _save(run: TrainingRun) -> float:
    """Save the state of a run; return the seconds it took."""
    begun = time.monotonic()
    run.folder.save({**run.state(), _STATUS: msgspec.to_builtins(run.status)})
    return time.monotonic() - begun


class _TrainingCurves:
    """Curves of the loss: a point every few steps and at each evaluation, with the mean since the last."""

    def __init__(self, curves: Curves, progress: TrainingProgress) -> None:
        self._curves, self._progress = curves, progress
        self._losses: list[float] = []

    def add(self, number: int, step: StepResult) -> None:
        """Add a step, and draw a point if it is due.

        Args:
            number: steps done, this one included.
            step: the step.
        """
        self._losses.append(step.loss)
        if step.curves:
            self._curves.add(number, step.curves)
        if not step.evaluate and number % CURVE_STEPS:
            return
        self._curves.add(
            number,
            {
                "training/loss": sum(self._losses) / len(self._losses),
                "training/learning_rate": step.rate,
                "training/samples_per_s": self._progress.speed,
            },
        )
        self._losses = []


@contextmanager
def _noticing_signals(run: TrainingRun, begun: Callable[[], bool]) -> Iterator[threading.Event]:
    """An event set by the first Ctrl-C, which is acknowledged; a second one interrupts without saving.

    Args:
        run: the run.
        begun: whether the first step, which may compile for minutes, is done; before, Ctrl-C stops at once.
    """
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def tell() -> None:
        step = "block" if run.unit == "games" else "step"
        _log.warning("train.stopping", hint=f"stopping after this {step}; Ctrl-C again stops now")

    def note(_number: int, _frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt(_AT_ONCE)
        if not begun():
            raise KeyboardInterrupt(_TOO_EARLY)
        stopped.set()
        # on another thread, as this one may be writing to the log
        threading.Thread(target=tell, daemon=True).start()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
