"""Training of the three models of opponents' hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from kit.errors import ConfigError
from learning.data.corpus import Corpus
from learning.data.loader import Batch
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.train.first_weights import Parent, first_network, parent_of
from learning.train.hands_generators import AutoregressiveRun, DiffusionRun, DistillationRun
from learning.train.hands_plan import HandsPlan, Weights
from learning.train.samples_run import SamplesRun
from policies.checkpoint import HandModel
from policies.nets.architectures import SHANTEN_CLASSES
from policies.nets.towers.hands import hand_scores


class DirectBatch(NamedTuple):
    """Samples of the direct heads; see `learning.data.hidden.HiddenHands`.

    Attributes:
        planes: ``[B, C, 34]`` uint8.
        shanten: ``[B, 3]`` int64, at most 6.
        waits: ``[B, 3, 34]`` float.
        deal_ins: ``[B, 3, 34]`` float.
        copies: ``[B, 3, 34]`` int64.
    """

    planes: Tensor
    shanten: Tensor
    waits: Tensor
    deal_ins: Tensor
    copies: Tensor


class DirectLosses(NamedTuple):
    """Mean losses in nats for one opponent; those of kinds are summed over the 34."""

    shanten: Tensor
    waits: Tensor
    deal_ins: Tensor
    copies: Tensor


def direct_losses(scores: Tensor, batch: DirectBatch) -> DirectLosses:
    """The losses of ``[B, 735]`` scores."""
    found = hand_scores(scores.float())
    hands = batch.shanten.numel()
    where = scores.device

    def of_kinds(logits: Tensor, truth: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(logits, truth.to(where), reduction="sum") / hands

    return DirectLosses(
        functional.cross_entropy(found.shanten.flatten(0, 1), batch.shanten.to(where).flatten()),
        of_kinds(found.waits, batch.waits),
        of_kinds(found.deal_ins, batch.deal_ins),
        functional.cross_entropy(
            found.copies.flatten(0, 2), batch.copies.to(where).flatten(), reduction="sum"
        )
        / hands,
    )


def direct_loss(scores: Tensor, batch: DirectBatch, weights: Weights) -> Tensor:
    """The weighted sum of the losses."""
    losses = direct_losses(scores, batch)
    return (
        weights.shanten * losses.shanten
        + weights.waits * losses.waits
        + weights.deal_ins * losses.deal_ins
        + weights.copies * losses.copies
    )


class DirectRun(SamplesRun[HandsPlan, DirectBatch]):
    """One run of the direct model.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint.
        parent: the checkpoint to begin from; new weights if None.
        commit: commit of the code, for the card.
    """

    def __init__(
        self, plan: HandsPlan, corpus: Corpus, out: Path, parent: Parent | None, commit: str
    ) -> None:
        super().__init__(plan, corpus, out, parent, commit, hands=True)
        self.learner = Learner(first_network(plan, self.begin), plan, self.threads, loss=self._loss)

    def _loss(self, scores: Tensor, batch: DirectBatch) -> Tensor:
        return direct_loss(scores, batch, self.plan.weights)

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        weights = self.plan.weights
        return {
            **super().settings(),
            **{f"weight_of_{name}": getattr(weights, name) for name in DirectLosses._fields},
        }

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> DirectBatch:
        """The planes and what is true of the hands."""
        hands = batch.hands
        assert hands is not None, "the loader was not asked for hands"
        return DirectBatch(
            batch.planes,
            torch.from_numpy(hands.shanten).long().clamp(0, SHANTEN_CLASSES - 1),
            torch.from_numpy(hands.waits).float(),
            torch.from_numpy(hands.deal_ins).float(),
            torch.from_numpy(hands.copies[:, 1:]).long(),
        )

    def evaluate(self) -> EvaluationResult:
        """The losses of the averaged weights on the validation split."""
        rows, total = 0, torch.zeros(len(DirectLosses._fields))
        for batch in self.validation_batches():
            losses = direct_losses(self.learner.scores(batch), batch)
            total += torch.stack(losses).cpu() * len(batch.planes)
            rows += len(batch.planes)
        mean = dict(zip(DirectLosses._fields, (total / max(1, rows)).tolist(), strict=True))
        weights, best = self.plan.weights, self.status.best
        loss = sum(getattr(weights, name) * value for name, value in mean.items())
        return EvaluationResult(
            score=loss,
            improved=best is None or loss < best,
            text=f"loss {loss:.4f}, " + ", ".join(f"{name} {value:.4f}" for name, value in mean.items()),
            curves={"validation/loss": loss, **{f"validation/{name}": value for name, value in mean.items()}},
            metrics={"loss": loss, **mean, "rows": rows},
        )


_RUNS: Final[Mapping[HandModel, Callable[..., DirectRun | DiffusionRun | AutoregressiveRun]]] = {
    "direct": DirectRun,
    "diffusion": DiffusionRun,
    "autoregressive": AutoregressiveRun,
}


def parent_of_hands(plan: HandsPlan, continue_from: Path | None, tower_from: Path | None) -> Parent | None:
    """The checkpoint to begin from, according to the user's flags.

    Raises:
        ConfigError: both flags are given, or a generator is not told whose tower it has.
    """
    found = parent_of(plan.model, continue_from, tower_from)
    if plan.distil and continue_from is None:
        raise ConfigError("--continue-from: give the folder of the diffusion model to distil")
    if continue_from is not None or plan.model == "direct":
        return found
    if tower_from is None:
        raise ConfigError("--tower-from: give the folder of a direct model, whose tower sees the state")
    return Parent(tower_from, "direct")


def run_of(plan: HandsPlan) -> Callable[..., DirectRun | DiffusionRun | AutoregressiveRun]:
    """What makes the run of a plan."""
    return DistillationRun if plan.distil else _RUNS[plan.model]
