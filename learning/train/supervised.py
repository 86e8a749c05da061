"""Supervised learning of the five models from the compact corpus.

A run is defined by its `TrainingPlan`. Its state is kept in a folder of its own, so that a run killed at any
moment resumes where it was and ends with the same numbers. The weights that are best on the validation split
are kept as the checkpoint of the model.

Source: Suphx, arXiv:2003.13590, section 3 and table 3.
"""

from __future__ import annotations

from typing import Final

from torch import Tensor, nn
from torch.nn import functional

from learning.data.loader import Batch
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.train.first_weights import first_network
from learning.train.plan import TrainingPlan
from learning.train.samples_run import SamplesRun

_NOT_ALLOWED: Final = -1e9


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
    """``[B, 34]`` or ``[B, 2]`` scores of a network, conditioned on the player if it has identities."""
    scores: Tensor = network(planes) if batch.who is None else network(planes, batch.who.to(planes.device))
    return scores


def _allowed(scores: Tensor, batch: Batch) -> Tensor:
    """The scores in float32, those of illegal discards far below all others."""
    scores = scores.float()
    if batch.legal is None:
        return scores
    return scores.masked_fill(~batch.legal.to(scores.device), _NOT_ALLOWED)


class SupervisedRun(SamplesRun[TrainingPlan, Batch]):
    """One run of a model of the decision flow."""

    def first_learner(self) -> Learner[Batch]:
        """The network in training."""
        tower_only = self.parent is not None and self.parent.tower_only
        first = first_network(self.plan, self.begin, tower_only=tower_only)
        return Learner(first, self.plan, self.threads, loss=imitation_loss, ask=conditioned_scores)

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> Batch:
        """The batch as it is."""
        return batch

    def evaluate(self) -> EvaluationResult:
        """Accuracy of the averaged weights on the validation split."""
        right, total, rows = 0, 0.0, 0
        for batch in self.validation_batches():
            scores = self.learner.scores(batch)
            total += float(imitation_loss(scores, batch)) * len(batch.labels)
            right, rows = right + int(agrees(scores, batch).sum()), rows + len(batch.labels)
        accuracy, loss, best = right / rows, total / rows, self.status.best
        return EvaluationResult(
            score=accuracy,
            improved=best is None or accuracy > best,
            text=f"{accuracy:.2%}, loss {loss:.4f}",
            curves={"validation/loss": loss, "validation/accuracy": accuracy},
            metrics={"accuracy": accuracy, "loss": loss, "rows": rows},
        )
