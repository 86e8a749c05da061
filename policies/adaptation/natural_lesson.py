"""Learning from play-outs by the natural gradient of the last layer, where it is sure.

What play-outs were worth is regressed on what the last layer saw of the discards in them
(`policies.natural_gradient`): what sets two options apart counts by how well it is known, not by how large it
happens to be in the numbers of the layer. That takes one look at each decision, and no gradient of a network.

Deals are dealt out to folds. What the others teach, judged by a fold, says which ridge tells most of what
comes of discards, and how sure that is: most hands teach nothing that a few hundred play-outs could show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from torch import Tensor

from game.errors import ModelError
from policies.adaptation.lesson import MEASURED, Learned, mean_divergence, pieces
from policies.adaptation.pool import PlayOutPool
from policies.adaptation.settings import AdaptationSettings
from policies.gradient import log_policy
from policies.last_layer import LastLayer
from policies.natural_gradient import Draws, draw_moments, natural_gradient
from policies.networks import Network

FOLDS: Final = 8
"""Parts that deals are dealt out to."""
RIDGES: Final = (3e3, 1e4, 3e4, 1e5)
"""Ridges that are tried: decisions that weigh as much as the expectation that nothing is to be learned."""
WORTH_OF_A_NAT: Final = 0.04
"""What an option must be worth more to become e times as likely, in standard deviations of the worth."""
_HALVINGS: Final = 30
"""Steps of the search for how far the divergence allows to go."""
_LEAST: Final = 1e-6
"""Share of the mean variance of what scores are linear in that every part of it has at least."""


class NaturalLesson:
    """Learns by the natural gradient of the last layer.

    Args:
        network: is changed.
        settings: how to learn.
        dice: draws the decisions on which the divergence is measured.
    """

    def __init__(self, network: Network, settings: AdaptationSettings, dice: np.random.Generator) -> None:
        self._network, self._settings, self._dice = network, settings, dice
        self._layer = LastLayer(network)
        self._start = {name: tensor.detach().clone() for name, tensor in network.named_parameters()}
        size = self._layer.size
        self._change = torch.zeros(size)  # of the scores, by the last lesson
        self._seen = 0  # decisions
        self._drawn = torch.zeros(0, size, dtype=torch.float64)  # of each play-out, what was less expected
        self._fisher = torch.zeros(FOLDS, size, size, dtype=torch.float64)
        self._others = torch.zeros(FOLDS, size, size, dtype=torch.float64)

    def learn(self, pool: PlayOutPool, furthest: float, between: Callable[[], None]) -> Learned:
        """Learn; see `policies.adaptation.lesson.AdaptationLesson`."""
        if not np.isfinite(pool.advantages).all():
            raise ModelError("what the play-outs of an adaptation were worth is not finite")
        self._look(pool, between)
        found, surety = self._found(pool)
        change, divergence = torch.zeros_like(self._change), 0.0
        if surety >= self._settings.sure:
            change, divergence = self._bounded(pool, found.float() / WORTH_OF_A_NAT, furthest)
        self._move(change)
        return Learned(max(0.0, 1.0 - 1.0 / max(surety, 1.0) ** 2), divergence)

    def forget(self) -> None:
        """Take the network back to that of the start."""
        self._move(torch.zeros_like(self._change))

    def _move(self, change: Tensor) -> None:
        self._change = change
        moved = self._layer.moved(self._start, change)
        with torch.no_grad():
            for name, tensor in self._network.named_parameters():
                tensor.copy_(moved[name])

    def _look(self, pool: PlayOutPool, between: Callable[[], None]) -> None:
        """Take in the decisions that are new: they were drawn by the network as it is."""
        drawn = self._drawn.new_zeros(len(pool.rewards), self._layer.size)
        drawn[: len(self._drawn)] = self._drawn
        fisher, others = self._fisher.clone(), self._others.clone()
        new = np.arange(self._seen, len(pool.decisions))
        folds = pool.dealt[pool.owners[new]] % FOLDS
        for fold in range(FOLDS):
            of_fold = new[folds == fold]
            for piece in pieces(len(of_fold)):
                between()
                rows = of_fold[piece]
                batch = pool.batch(rows)
                scores, seen = self._layer.look(batch.planes)
                assert batch.drawn is not None
                scores = scores + seen @ self._change
                draws = Draws(seen, scores, batch.legal, batch.drawn, batch.chosen, batch.weights)
                moments = draw_moments(draws, self._settings.temperature)
                weighed = (moments.chosen * batch.weights[:, None]).double()
                drawn.index_add_(0, torch.from_numpy(pool.owners[rows]), weighed)
                fisher[fold] += moments.fisher
                others[fold] += moments.others
        # only now, as an interrupted look is made again
        self._drawn, self._fisher, self._others, self._seen = drawn, fisher, others, len(pool.decisions)

    def _found(self, pool: PlayOutPool) -> tuple[Tensor, float]:
        """What tells best how play-outs end, in their standard deviations, and how sure it is.

        Returns:
            ``[D]``, the function of the rows; and what the folds say of it, in standard errors by deals.
        """
        numbers, deals = np.unique(pool.dealt, return_inverse=True)
        signals = self._drawn.new_zeros(len(numbers), self._layer.size)
        advantages = torch.from_numpy(pool.advantages)
        signals.index_add_(0, torch.from_numpy(deals), advantages[:, None] * self._drawn)
        folds = torch.from_numpy(numbers % FOLDS)
        told = [(ridge, *self._told(signals, folds, ridge)) for ridge in RIDGES]
        ridge, explained, surety = max(told, key=lambda each: each[1])
        if explained <= 0.0:
            surety = min(0.0, surety)
        return self._solved(signals.sum(0), torch.ones(FOLDS, dtype=torch.bool), ridge), surety

    def _told(self, signals: Tensor, folds: Tensor, ridge: float) -> tuple[float, float]:
        """How much better the folds know the worth by what the others teach, and that in standard errors."""
        explained, by_deal = 0.0, []
        for fold in range(FOLDS):
            here, others = folds == fold, torch.arange(FOLDS) != fold
            found = self._solved(signals[~here].sum(0), others, ridge)
            agreed = signals[here] @ found
            explained += 2.0 * float(agreed.sum()) - float(found @ self._fisher[fold] @ found)
            by_deal.append(agreed)
        each = torch.cat(by_deal)
        error = math.sqrt(float((each**2).sum()))
        return explained, float(each.sum()) / error if error > 0.0 else 0.0

    def _solved(self, signal: Tensor, folds: Tensor, ridge: float) -> Tensor:
        """``[D]``: what some folds teach."""
        fisher, others = self._fisher[folds].sum(0), self._others[folds].sum(0)
        diagonal = fisher.diagonal()
        decisions = max(1.0, float(folds.sum()) / FOLDS * self._seen)
        prior = diagonal * (ridge / decisions) + _LEAST * diagonal.mean().clamp_min(_LEAST)
        return natural_gradient(signal, fisher, others + torch.diag(prior), self._layer.own.double())

    def _bounded(self, pool: PlayOutPool, change: Tensor, furthest: float) -> tuple[Tensor, float]:
        """The change, or as much of it as the divergence allows, and its divergence."""
        shown = pool.batch(pool.some(MEASURED, self._dice))
        looks = [self._layer.look(shown.planes[piece]) for piece in pieces(len(shown.planes))]
        scores = torch.cat([look[0] for look in looks])
        moves = torch.cat([look[1] @ change for look in looks])
        start = log_policy(scores, shown.legal, self._settings.temperature)

        def divergence(share: float) -> float:
            now = log_policy(scores + share * moves, shown.legal, self._settings.temperature)
            return mean_divergence(start, now, shown.legal, shown.weights)

        nearest, share = 0.0, 1.0
        if divergence(share) > furthest:
            for _ in range(_HALVINGS):
                middle = 0.5 * (nearest + share)
                nearest, share = (middle, share) if divergence(middle) <= furthest else (nearest, middle)
            share = nearest
        return share * change, divergence(share)
