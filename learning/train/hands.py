"""Training of the three models of opponents' hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from learning.data.loader import Batch
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.train.first_weights import first_network
from learning.train.hands_generators import AutoregressiveRun, DiffusionRun, DistillationRun
from learning.train.plan import HandsPlan
from learning.train.samples_run import SamplesRun
from policies.checkpoint.card import HandModel
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


_WEIGHTS: Final = {"shanten": 1.0, "waits": 1.0, "deal_ins": 1.0, "copies": 0.05}
"""Weights of the losses: for each opponent, the last three summed over the kinds."""


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


def direct_loss(scores: Tensor, batch: DirectBatch) -> Tensor:
    """The weighted sum of the losses."""
    found = direct_losses(scores, batch)
    return sum(
        (_WEIGHTS[name] * loss for name, loss in found._asdict().items()),
        start=torch.zeros((), device=scores.device),
    )


class DirectRun(SamplesRun[HandsPlan, DirectBatch]):
    """One run of the direct model."""

    hands = True

    def first_learner(self) -> Learner[DirectBatch]:
        """The network in training."""
        return Learner(first_network(self.plan, self.begin), self.plan, self.threads, loss=direct_loss)

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        return {**super().settings(), **{f"weight_of_{name}": value for name, value in _WEIGHTS.items()}}

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> DirectBatch:
        """The planes and the true hands."""
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
        mean = dict(zip(DirectLosses._fields, (total / rows).tolist(), strict=True))
        loss = sum(_WEIGHTS[name] * value for name, value in mean.items())
        text = f"loss {loss:.4f}, " + ", ".join(f"{name} {value:.4f}" for name, value in mean.items())
        curves = {f"validation/{name}": value for name, value in mean.items()}
        return self.judged_by(loss, text, curves, {**mean, "rows": rows})


_RUNS: Final[Mapping[HandModel, Callable[..., DirectRun | DiffusionRun | AutoregressiveRun]]] = {
    "direct": DirectRun,
    "diffusion": DiffusionRun,
    "autoregressive": AutoregressiveRun,
}


def run_of(plan: HandsPlan) -> Callable[..., DirectRun | DiffusionRun | AutoregressiveRun]:
    """The class of a plan's run."""
    return DistillationRun if plan.distil else _RUNS[plan.model]
