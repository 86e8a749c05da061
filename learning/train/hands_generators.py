"""Training of the generators of hands: the small network beside the tower of a direct model."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from kit.errors import CheckpointMismatch, ConfigError
from learning.data.hidden import HiddenHands
from learning.data.loader import Batch
from learning.runs.learner import Learner, Samples
from learning.runs.loop import EvaluationResult
from learning.train.plan import HandsPlan
from learning.train.samples_run import SamplesRun
from policies.checkpoint.store import Checkpoint
from policies.features.table import KINDS
from policies.hands.autoregressive import partial_inputs
from policies.hands.diffusion import (
    FIVES,
    Known,
    clean_hands,
    denoiser_inputs,
    distilled_target,
    signals_at,
)
from policies.nets.architectures import DenoiserArchitecture, SuitsArchitecture
from policies.nets.conditioned import DenoiserNetwork, denoiser_of
from policies.nets.networks import filled
from policies.nets.shapes import PLAYERS
from policies.nets.towers.suits import Columns

_HANDS: Final = 3
_LOWEST: Final = -1e9
_DRAWS: Final = 4
"""Noisy or partial hands for each state."""
_HIDDEN: Final = 0.1
"""Share of the diffusion's rows without the state, for classifier-free guidance."""
_SCALE: Final = 4.0
"""Factor of the diffusion's level of four copies in a hand; 1 in the paper."""


class DiffusionBatch(NamedTuple):
    """States, their hands, and noise for them, D draws each.

    Attributes:
        planes: ``[B, C, 34]`` uint8.
        clean: ``[B, 4, 2, 34]`` levels from 0 to 1.
        noise: ``[B, D, 4, 2, 34]`` normal.
        times: ``[B, D]`` from 0 to 1.
        kept: ``[B, D]`` 0 where the state is hidden.
        unseen: ``[B, 34]`` int8.
        sizes: ``[B, 3]`` tiles of the opponents' hands.
    """

    planes: Tensor
    clean: Tensor
    noise: Tensor
    times: Tensor
    kept: Tensor
    unseen: Tensor
    sizes: Tensor


class PartialBatch(NamedTuple):
    """States, their hands, and the tiles of them that are placed, D draws each.

    Attributes:
        planes: ``[B, C, 34]`` uint8.
        copies: ``[B, 3, 34]`` int64, the opponents' hands.
        placed: ``[B, D, 3, 34]`` int64, part of them.
        unseen: ``[B, 34]`` int64.
        red_holders: ``[B, 3]`` int64 by suit: the opponent who has the red five, 3 for the wall, -1 if it
            is in sight.
    """

    planes: Tensor
    copies: Tensor
    placed: Tensor
    unseen: Tensor
    red_holders: Tensor


GeneratorBatch = TypeVar("GeneratorBatch", bound=Samples)


class _GeneratorRun(SamplesRun[HandsPlan, GeneratorBatch]):
    """Base of the runs of both generators, which begin with a direct model's tower, or continue another."""

    hands = True

    def first_learner(self) -> Learner[GeneratorBatch]:
        """The network in training.

        Raises:
            ConfigError: there is no model to begin from.
        """
        if self.begin is None:
            raise ConfigError(f"the {self.plan.model} model needs the tower of a direct model")
        network = first_denoiser(self.plan, self.begin)
        return Learner(network, self.plan, self.threads, loss=self.loss, ask=self.ask)

    def ask(self, network: nn.Module, planes: Tensor, batch: GeneratorBatch) -> Tensor:
        """The network's answers to a batch, ``[B · D, …, 34]``."""
        raise NotImplementedError

    def loss(self, answers: Tensor, batch: GeneratorBatch) -> Tensor:
        """Mean loss of the answers."""
        raise NotImplementedError

    def evaluate(self) -> EvaluationResult:
        """The loss of the averaged weights on the validation split."""
        rows, total = 0, 0.0
        for batch in self.validation_batches():
            answers = self.learner.scores(batch)
            total += float(self.loss(answers, batch)) * len(batch.planes)
            rows += len(batch.planes)
        loss = total / rows
        return self.judged_by(loss, f"loss {loss:.5f}", {}, {"rows": rows})

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        return {**super().settings(), "draws": _DRAWS, "hidden": _HIDDEN, "distil": self.plan.distil}


class DiffusionRun(_GeneratorRun[DiffusionBatch]):
    """One run of the diffusion model."""

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> DiffusionBatch:
        """The hands, and noise for them."""
        hands, draws = _hands_of(batch), _DRAWS
        rng = torch.Generator().manual_seed(int(np.random.default_rng(draw).integers(2**62)))
        rows = len(batch.planes)
        return DiffusionBatch(
            batch.planes,
            clean_hands(hands.copies, hands.reds),
            torch.randn((rows, draws, PLAYERS, 2, hands.copies.shape[2]), generator=rng),
            torch.rand((rows, draws), generator=rng),
            (torch.rand((rows, draws), generator=rng) >= _HIDDEN).float(),
            torch.from_numpy(hands.unseen),
            torch.from_numpy(hands.copies[:, 1:].sum(2)),
        )

    def ask(self, network: nn.Module, planes: Tensor, batch: DiffusionBatch) -> Tensor:
        """The predicted clean hands, ``[B · D, 8, 34]``."""
        assert isinstance(network, DenoiserNetwork)
        where, draws = planes.device, batch.times.shape[1]
        noisy = self.noisy(batch, where)
        inputs = denoiser_inputs(
            noisy,
            batch.unseen.to(where).repeat_interleave(draws, 0),
            batch.sizes.to(where).repeat_interleave(draws, 0),
        )
        seen = _repeated(network.trunk_columns(planes), draws)
        times, kept = batch.times.to(where).flatten(), batch.kept.to(where).flatten()
        answers: Tensor = network(seen, inputs, times, kept)
        return answers

    def noisy(self, batch: DiffusionBatch, where: torch.device) -> Tensor:
        """The hands with their noise, ``[B · D, 4, 2, 34]``."""
        signal, noise = signals_at(batch.times.to(where).flatten()), batch.noise.to(where).flatten(0, 1)
        return signal.sqrt() * self._clean(batch, where) + (1.0 - signal).sqrt() * noise

    def truth(self, batch: DiffusionBatch, where: torch.device) -> Tensor:
        """The hands that should be predicted, ``[B · D, 4, 2, 34]``."""
        return self._clean(batch, where)

    def _clean(self, batch: DiffusionBatch, where: torch.device) -> Tensor:
        """The true hands, once for each noise."""
        return _SCALE * batch.clean.to(where).repeat_interleave(batch.times.shape[1], 0)

    def loss(self, answers: Tensor, batch: DiffusionBatch) -> Tensor:
        """Squared error of the opponents' copies and red fives, in units of a copy; the mean over hands."""
        truth = self.truth(batch, answers.device)[:, 1:]
        missed = (answers.float().view(-1, PLAYERS, 2, KINDS)[:, 1:] - truth) * (4.0 / _SCALE)
        copies = missed[:, :, 0].square().sum(2).mean()
        reds = missed[:, :, 1][..., FIVES].square().sum(2).mean() / 4.0
        loss: Tensor = copies + reds
        return loss


class DistillationRun(DiffusionRun):
    """One run of a diffusion model that learns to take in one step what its parent takes in two.

    Source: Salimans and Ho, arXiv:2202.00512.
    """

    def first_learner(self) -> Learner[DiffusionBatch]:
        """The network in training, which begins with the weights of its teacher."""
        learner = super().first_learner()
        assert isinstance(learner.network, DenoiserNetwork)
        self._teacher = copy.deepcopy(learner.network).eval().requires_grad_(False)
        return learner

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> DiffusionBatch:
        """The hands, and noise for them at the moments at which steps begin; no state is hidden."""
        found, steps = super().prepared(batch, draw), self.plan.distil
        moments = (found.times * steps).floor().clamp(max=steps - 1) + 1.0
        return found._replace(times=moments / steps, kept=torch.ones_like(found.kept))

    @torch.no_grad()
    def truth(self, batch: DiffusionBatch, where: torch.device) -> Tensor:
        """``[B · D, 4, 2, 34]``: the hands after two steps of the parent."""
        draws = batch.times.shape[1]
        known = Known(batch.clean[:, 0], batch.unseen, batch.sizes)
        return distilled_target(
            self._teacher,
            _repeated(self._teacher.trunk_columns(self.learner.planes_of(batch)), draws),
            self.noisy(batch, where),
            batch.times.to(where).flatten(),
            Known(*(each.to(where).repeat_interleave(draws, 0) for each in known)),
            self.plan.distil,
        )


class AutoregressiveRun(_GeneratorRun[PartialBatch]):
    """One run of the autoregressive model."""

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> PartialBatch:
        """The hands, and how much of them is placed."""
        hands = _hands_of(batch)
        rng = np.random.default_rng(draw)
        placed = [partial_hands(hands.copies[:, 1:], rng) for _ in range(_DRAWS)]
        holder = np.where(hands.reds[:, 1:].any(1), hands.reds[:, 1:].argmax(1), _HANDS)
        return PartialBatch(
            batch.planes,
            torch.from_numpy(hands.copies[:, 1:]).long(),
            torch.from_numpy(np.stack(placed, 1)),
            torch.from_numpy(hands.unseen).long(),
            torch.from_numpy(np.where(hands.reds_unseen, holder, -1)).long(),
        )

    def ask(self, network: nn.Module, planes: Tensor, batch: PartialBatch) -> Tensor:
        """The scores of the next tiles and of red fives, ``[B · D, 6, 34]``."""
        assert isinstance(network, DenoiserNetwork)
        where, draws = planes.device, batch.placed.shape[1]
        placed = batch.placed.to(where).flatten(0, 1)
        left = batch.unseen.to(where).repeat_interleave(draws, 0) - placed.sum(1)
        sizes = batch.copies.to(where).sum(2).repeat_interleave(draws, 0)
        inputs, times = partial_inputs(placed, left, sizes)
        answers: Tensor = network(_repeated(network.trunk_columns(planes), draws), inputs, times)
        return answers

    def loss(self, answers: Tensor, batch: PartialBatch) -> Tensor:
        """Cross-entropy of a missing tile of each hand, and of who has each red five; the mean over hands."""
        where, draws = answers.device, batch.placed.shape[1]
        answers = answers.float()
        placed = batch.placed.to(where).flatten(0, 1)
        copies = batch.copies.to(where).repeat_interleave(draws, 0)
        left = batch.unseen.to(where).repeat_interleave(draws, 0) - placed.sum(1)
        missing = (copies - placed).float()
        tiles = missing.sum(2)
        logs = answers[:, :_HANDS].masked_fill((left <= 0)[:, None], _LOWEST).log_softmax(2)
        each = -(missing * logs).sum(2) / tiles.clamp(min=1.0)
        next_tile = each[tiles > 0].mean()
        fives = copies[..., FIVES].float()
        wall = batch.unseen.to(where).repeat_interleave(draws, 0)[:, FIVES].float() - fives.sum(1)
        scores = torch.cat([answers[:, _HANDS:, FIVES] + fives.log(), wall[:, None].log()], 1)
        holders = batch.red_holders.to(where).repeat_interleave(draws, 0)
        reds = functional.cross_entropy(scores.clamp(min=_LOWEST), holders, ignore_index=-1)
        return next_tile + torch.nan_to_num(reds)


def first_denoiser(plan: HandsPlan, begin: Checkpoint) -> DenoiserNetwork:
    """The network before its first step: a generator to continue, or a new one beside a direct model's tower.

    Raises:
        CheckpointMismatch: the checkpoint is for other planes, has another size, or does not take twice the
            steps to distil to.
    """
    card = begin.card
    file, theirs = Path(card.tensors.file), card.architecture
    if card.features != plan.features:
        problem = f"{card.features}, but the plan wants {plan.features}"
        raise CheckpointMismatch(file, "features", problem, "choose the --features it was made with")
    if isinstance(theirs, DenoiserArchitecture):
        if (theirs.width, theirs.depth) != (plan.width, plan.depth):
            problem = f"{theirs.width}×{theirs.depth}, but the plan wants {plan.width}×{plan.depth}"
            raise CheckpointMismatch(file, "architecture", problem, "choose the --width and --depth it has")
        if plan.distil and theirs.steps not in (0, 2 * plan.distil):
            advice = f"give a model distilled to {2 * plan.distil} steps, or to none"
            raise CheckpointMismatch(file, "steps", f"{theirs.steps} to distil to {plan.distil}", advice)
        return denoiser_of(msgspec.structs.replace(theirs, steps=plan.distil), begin.arrays)
    if not isinstance(theirs, SuitsArchitecture) or theirs.squeeze or not theirs.normalised:
        raise CheckpointMismatch(
            file, "architecture", "not the tower suits as it is by default", "train it again"
        )
    assert plan.model != "direct"
    found = DenoiserNetwork(
        DenoiserArchitecture(
            generates=plan.model,
            planes=theirs.planes,
            by_suit=theirs.by_suit,
            trunk_width=theirs.width,
            trunk_depth=theirs.depth,
            width=plan.width,
            depth=plan.depth,
            scale=_SCALE if plan.model == "diffusion" else 1.0,
        )
    )
    tower = {name: tensor for name, tensor in begin.arrays.items() if not name.startswith("head.")}
    filled(found.trunk, tower)
    return found


def partial_hands(copies: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """A random part of each row's hands: a uniform number of tiles, fewer than all, then those at random.

    Args:
        copies: ``[B, 3, 34]``.
        rng: random generator.

    Returns:
        ``[B, 3, 34]``.
    """
    rows, hands, kinds = copies.shape
    places = np.tile(np.arange(hands * kinds), rows)
    flat = copies.reshape(-1).astype(np.int64)
    tiles = np.repeat(places, flat)
    owners = np.repeat(np.repeat(np.arange(rows), hands * kinds), flat)
    sizes = np.bincount(owners, minlength=rows)
    first = np.cumsum(sizes) - sizes
    order = np.lexsort((rng.random(len(tiles)), owners))
    shown = np.arange(len(tiles)) - first[owners] < (rng.random(rows) * sizes).astype(np.int64)[owners]
    placed = np.zeros((rows, hands * kinds), np.int64)
    np.add.at(placed, (owners[order][shown], tiles[order][shown]), 1)
    return placed.reshape(copies.shape)


def _hands_of(batch: Batch) -> HiddenHands:
    assert batch.hands is not None, "the loader was not asked for hands"
    return batch.hands


def _repeated(seen: Columns, times: int) -> Columns:
    """Each row several times."""
    return Columns(seen.suits.repeat_interleave(times, 0), seen.honours.repeat_interleave(times, 0))
