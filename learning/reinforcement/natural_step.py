"""Steps of the natural policy gradient, from sums over games.

The sums of `policies.natural_gradient` are over decisions, of which older ones fade. A ridge keeps the step
from following the noise. What was not drawn from says nothing of what came of it; its movement is held by the
same sum over it, which is added.

Games are dealt out to folds: the step that the others call for, judged by a fold, says what is gained, and
which ridge gains most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import torch
from torch import Tensor

from policies.natural_gradient import Draws, draw_moments, natural_gradient

FOLDS: Final = 8
"""Parts that games are dealt out to."""
RIDGES: Final = (1e4, 3e4, 1e5, 3e5, 1e6, 3e6)
"""Ridges that are tried: games that weigh as much as the expectation that nothing is to be learned."""
_LEAST: Final = 1e-6
"""Share of the mean variance of what scores are linear in that every part of it has at least."""
_NOTHING: Final = 1e-12


class NaturalStep(NamedTuple):
    """A step, and what it is worth.

    Attributes:
        change: ``[D]``, the function to add to scores.
        ridge: as in `RIDGES`.
        gain: rewards gained a player's game by the draws, to first order, judged by games that had no say.
        gain_error: standard error of that.
    """

    change: Tensor
    ridge: float
    gain: float
    gain_error: float


class DrawSums:
    """The sums over decisions, by fold.

    Args:
        size: numbers in a row, D.
        temperature: of the draws.
    """

    def __init__(self, size: int, temperature: float) -> None:
        self._temperature = temperature
        self._signal = torch.zeros(FOLDS, size, dtype=torch.float64)
        self._fisher = torch.zeros(FOLDS, size, size, dtype=torch.float64)
        self._others = torch.zeros(FOLDS, size, size, dtype=torch.float64)
        # of decisions with a choice: their number, entropy and squared rewards; and options not drawn from
        self._counts = torch.zeros(FOLDS, 4, dtype=torch.float64)
        self._seats = torch.zeros(FOLDS, dtype=torch.float64)

    def fade(self, share: float) -> None:
        """Keep a share of what all decisions so far count."""
        for total in self.state().values():
            total.mul_(share)

    def add_seats(self, seats: Tensor) -> None:
        """Add the number of players' games ``[FOLDS]`` that decisions to come, or added, are of."""
        self._seats += seats

    def add(self, draws: Draws, rewards: Tensor, folds: Tensor) -> None:
        """Add decisions.

        Args:
            draws: the decisions.
            rewards: ``[B]``, what came of them, less its mean.
            folds: ``[B]`` int64, the folds of their games.
        """
        for fold in range(FOLDS):
            here = folds == fold
            if here.any():
                self._add(fold, Draws(*(part[here] for part in draws)), rewards[here])

    def _add(self, fold: int, draws: Draws, rewards: Tensor) -> None:
        moments = draw_moments(draws, self._temperature)
        close = draws.drawn.sum(1) > 1
        self._signal[fold] += ((draws.weights * rewards)[:, None] * moments.chosen).sum(0).double()
        self._fisher[fold] += moments.fisher
        self._others[fold] += moments.others
        seen = [close.float(), close * moments.entropies, close * rewards**2, moments.nearness]
        self._counts[fold] += (draws.weights[:, None] * torch.stack(seen, 1)).sum(0).double()

    @property
    def decisions(self) -> float:
        """Decisions that were drawn."""
        return float(self._counts[:, 0].sum())

    @property
    def entropy(self) -> float:
        """Their mean entropy, in nats."""
        return float(self._counts[:, 1].sum()) / max(1.0, self.decisions)

    @property
    def deviation(self) -> float:
        """Standard deviation of what came of them."""
        return math.sqrt(float(self._counts[:, 2].sum()) / max(1.0, self.decisions))

    def step(self, own: Tensor, size: float, hold: float) -> NaturalStep:
        """The best step of all games.

        Args:
            own: ``[D]``, the function of the rows that the scores of the start are.
            size: how far it moves the scores of the options drawn from, root mean square in nats.
            hold: weight of the movement of an option not drawn from, where that of one drawn from has its
                probability.
        """
        if not self.decisions:
            return NaturalStep(torch.zeros(self._signal.shape[1]), RIDGES[-1], 0.0, 0.0)
        own = own.double()
        judged = [(ridge, *self._judged(own, size, hold, ridge)) for ridge in RIDGES]
        ridge, gain, error = max(judged, key=lambda each: each[1])
        change = self._solved(torch.ones(FOLDS, dtype=torch.bool), own, size, hold, ridge)
        return NaturalStep(change.float(), ridge, gain, error)

    def movement(self, change: Tensor) -> tuple[float, float]:
        """How far a step moves scores, root mean square in nats: of options drawn from, and of the others."""
        change = change.double()
        squares = [float(change @ total.sum(0) @ change) for total in (self._fisher, self._others)]
        others = float(self._counts[:, 3].sum())
        return math.sqrt(squares[0] / max(1.0, self.decisions)), math.sqrt(squares[1] / max(1.0, others))

    def _judged(self, own: Tensor, size: float, hold: float, ridge: float) -> tuple[float, float]:
        """What the steps that all folds but one call for gain in that one, a player's game, and its error."""
        gain = variance = 0.0
        for fold in range(FOLDS):
            others = torch.arange(FOLDS) != fold
            if not self._counts[others, 0].sum() or not self._counts[fold, 0]:
                continue
            change = self._solved(others, own, size, hold, ridge)
            gain += float(change @ self._signal[fold])
            variance += self.deviation**2 * float(change @ self._fisher[fold] @ change)
        # the draws of a temperature move by so much less
        scale = self._temperature * max(1.0, float(self._seats.sum()))
        return gain / scale, math.sqrt(variance) / scale

    def _solved(self, folds: Tensor, own: Tensor, size: float, hold: float, ridge: float) -> Tensor:
        """``[D]``: the step that some folds call for."""
        fisher, signal = self._fisher[folds].sum(0), self._signal[folds].sum(0)
        diagonal = fisher.diagonal()
        games = max(1.0, float(self._seats[folds].sum())) / 4.0
        prior = diagonal * (ridge / games) + _LEAST * diagonal.mean()
        held = hold * self._others[folds].sum(0) + torch.diag(prior)
        found = natural_gradient(signal, fisher, held, own)
        squares = float(found @ fisher @ found)
        if squares < _NOTHING:  # too few decisions
            return torch.zeros_like(found)
        return found * (size / math.sqrt(squares / float(self._counts[folds, 0].sum())))

    def state(self) -> dict[str, Tensor]:
        """Everything needed to go on."""
        return {
            "signal": self._signal,
            "fisher": self._fisher,
            "others": self._others,
            "counts": self._counts,
            "seats": self._seats,
        }

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned."""
        for name, total in self.state().items():
            total.copy_(state[name])
