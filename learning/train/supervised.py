"""Supervised learning of the five models from the compact corpus.

A run is defined by its `TrainingPlan`. Its state is kept in a folder of its own, so that a run killed at any
moment resumes where it was and ends with the same numbers. The weights that are best on the validation split
are kept as the checkpoint of the model.

Source: Suphx, arXiv:2003.13590, section 3 and table 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from torch import Tensor, nn
from torch.nn import functional

from learning.data.corpus import Corpus
from learning.data.loader import Batch
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.train.first_weights import Parent, first_network
from learning.train.plan import TrainingPlan
from learning.train.samples_run import SamplesRun

_NOT_ALLOWED: Final = -1e9


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


def imitation_loss(scores: Tensor, batch: Batch) -> Tensor:
    """Mean cross-entropy over the legal answers.

    Args:
        scores: ``[B, 34]`` or ``[B, 2]`` logits.
        batch: labels, and for discards the legal kinds.
    """
    return functional.cross_entropy(_allowed(scores, batch), batch.labels.to(scores.device))


def agrees(scores: Tensor, batch: Batch) -> Tensor:
    """``[B]`` bool: whether the likeliest legal answer is the player's."""
    return _allowed(scores, batch).argmax(1) == batch.labels.to(scores.device)


def conditioned_scores(network: nn.Module, planes: Tensor, batch: Batch) -> Tensor:
    """The scores of a network, conditioned on the player if it knows players."""
    scores: Tensor = network(planes) if batch.who is None else network(planes, batch.who.to(planes.device))
    return scores


def _allowed(scores: Tensor, batch: Batch) -> Tensor:
    """The scores in float32, those of illegal discards far below all others."""
    scores = scores.float()
    if batch.legal is None:
        return scores
    return scores.masked_fill(~batch.legal.to(scores.device), _NOT_ALLOWED)


class SupervisedRun(SamplesRun[TrainingPlan, Batch]):
    """One run of a model of the decision flow; the arguments are those of its base."""

    def __init__(
        self, plan: TrainingPlan, corpus: Corpus, out: Path, parent: Parent | None, commit: str
    ) -> None:
        super().__init__(plan, corpus, out, parent, commit)
        first = first_network(plan, self.begin, tower_only=parent is not None and parent.tower_only)
        self.learner = Learner(first, plan, self.threads, loss=imitation_loss, ask=conditioned_scores)

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> Batch:
        """The batch as it is."""
        return batch

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
        for batch in self.validation_batches():
            scores = self.learner.scores(batch)
            size = len(batch.labels)
            loss += float(imitation_loss(scores, batch)) * size
            right, rows = right + int(agrees(scores, batch).sum()), rows + size
        return ValidationScores(right / max(1, rows), loss / max(1, rows), rows)
