"""Supervised learning of the five models from the compact corpus.

A run is defined by its `TrainingPlan`. Its state is kept in a folder of its own, so that a run killed at any
moment resumes where it was and ends with the same numbers. The weights that are best on the validation split
are kept as the checkpoint of the model.

Source: Suphx, arXiv:2003.13590, section 3 and table 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from kit.errors import ConfigError
from learning.corpus.reader import Corpus
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.samples.loader import Batch
from learning.supervised.first_weights import first_network
from learning.supervised.plan import TrainingPlan
from learning.supervised.samples_run import SamplesRun, choice_of, kept
from policies.checkpoint import Card, Model, load
from policies.flow.slots import Slot

__all__ = ["Parent", "ValidationScores", "choice_of", "parent_of", "train"]


_NOT_ALLOWED: Final = -1e9


class Parent(NamedTuple):
    """A checkpoint to begin from: its folder, its model, and whether only its tower counts."""

    folder: Path
    model: Model | Slot
    tower_only: bool = False


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
        BotError: as in `learning.supervised.samples_run.kept`.
    """
    return kept(plan.model.value, lambda: _SupervisedRun(plan, corpus, out, parent, commit), quiet=quiet)


def parent_of(model: Model | Slot, continue_from: Path | None, tower_from: Path | None) -> Parent | None:
    """The checkpoint to begin from, according to the user's flags.

    Raises:
        ConfigError: both flags are given.
    """
    if continue_from is not None and tower_from is not None:
        raise ConfigError("--continue-from and --tower-from: give only one of them")
    if tower_from is not None:
        return Parent(tower_from, Slot.DISCARD, tower_only=True)
    return None if continue_from is None else Parent(continue_from, model)


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


def tell_who(network: nn.Module, planes: Tensor, batch: Batch) -> Tensor:
    """The scores of a network, told who plays if it knows players."""
    scores: Tensor = network(planes) if batch.who is None else network(planes, batch.who.to(planes.device))
    return scores


def _allowed(scores: Tensor, batch: Batch) -> Tensor:
    """The scores in float32, those of illegal discards far below all others."""
    scores = scores.float()
    if batch.legal is None:
        return scores
    return scores.masked_fill(~batch.legal.to(scores.device), _NOT_ALLOWED)


class _SupervisedRun(SamplesRun[TrainingPlan, Batch]):
    """One run: its data, its learner, and how both are used."""

    def __init__(
        self, plan: TrainingPlan, corpus: Corpus, out: Path, parent: Parent | None, commit: str
    ) -> None:
        begin = load(parent.folder, parent.model) if parent is not None else None
        super().__init__(
            plan,
            corpus,
            out,
            commit,
            model=plan.model.value,
            parents=(begin.card.tensors.sha256,) if begin is not None else (),
            added={
                "plan.tower": "residual",
                "plan.squeeze": 0,
                "plan.normalised": True,
                "plan.selection.decisions": 0,
                "plan.identities": [],
            },
        )
        torch.manual_seed(plan.seed)
        first = first_network(plan, begin, tower_only=parent is not None and parent.tower_only)
        self.learner = Learner(first, plan, self.threads, loss=imitation_loss, ask=tell_who)

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
