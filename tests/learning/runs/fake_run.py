"""A run that learns a number, for what every training run has in common."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kit.files import replace_file
from learning.runs.loop import EvaluationResult, RunStatus, StepResult, run_folder

BATCH = 64
CHECKPOINT = "fake.txt"


class FakePlan(msgspec.Struct, frozen=True):
    """The plan of a run; it was added to."""

    grows: ClassVar[tuple[str, ...]] = ("steps",)

    steps: int
    seed: int
    added: int = 1


class FakeRun:
    """Each step mixes its number into the weights, so that none can be left out, repeated or exchanged.

    Args:
        out: folder of the checkpoint.
        steps: steps of the run.
        every: steps between two evaluations.
        best: step whose evaluation has the best score; 0 for the last.
        patience: evaluations without improvement after which it stops.
        seed: another seed is another run.
    """

    title = "fake"
    unit = "samples"

    def __init__(
        self, out: Path, *, steps: int = 6, every: int = 2, best: int = 0, patience: int = 0, seed: int = 0
    ) -> None:
        self._out, self._steps, self._every, self._best, self.patience = out, steps, every, best, patience
        self.folder = run_folder(out, self.title, FakePlan(steps, seed), {})
        self.status = RunStatus()
        self.total = BATCH * steps
        self.weights = seed

    @property
    def done(self) -> int:
        """Samples learned from."""
        return self.status.samples

    @property
    def kept(self) -> bool:
        """Whether the checkpoint is there."""
        return (self._out / CHECKPOINT).exists()

    def steps(self) -> Generator[StepResult]:
        """The steps that remain."""
        while self.status.step < self._steps:
            self.learn()
            self.status.step += 1
            self.status.samples += BATCH
            evaluate = self.status.step % self._every == 0
            yield StepResult(BATCH, float(self.status.step), 0.1, evaluate)

    def learn(self) -> None:
        """Take a step."""
        self.weights = (31 * self.weights + self.status.step + 1) % 1_000_003

    def evaluate(self) -> EvaluationResult:
        """The later a step, the better, up to the best one."""
        score = float(self.status.step if self.status.step <= (self._best or self._steps) else 0)
        improved = self.status.best is None or score > self.status.best
        return EvaluationResult(score, improved, f"{score}", {"validation/score": score}, {"score": score})

    def keep(self, metrics: dict[str, float]) -> None:
        """Write the weights."""
        replace_file(self._out / CHECKPOINT, f"{self.weights} {metrics}".encode())

    def state(self) -> dict[str, Any]:
        """The weights."""
        return {"network": self.weights, "optimiser": [0] * 1000}

    def restore(self, state: dict[str, Any]) -> None:
        """What `state` returned."""
        self.weights, _ = state["network"], state["optimiser"]
