"""Steps of the natural policy gradient for weights in which scores are linear, from sums over games.

With φ what a score is linear in, π the policy that drew, and R what came of a decision, the natural gradient
w is the regression of R on ``φ(a) - μ``: what is linear in φ and best tells which options ended well.

    F w = g,    F = E[Σ π (φ - μ)(φ - μ)ᵀ],    g = E[(φ(a) - μ) R],    μ = Σ π φ

F and g are sums over decisions, of which older ones fade. A ridge keeps w from following the noise. What was
not drawn from says nothing of R; its movement is held by the same sum over it, which is added to F. And w is
kept apart from the scores themselves: to follow them is to draw less at random, which gains whenever
something is drawn, and nothing for a player who takes the likeliest.

Games are dealt out to folds: the step that the others call for, judged by a fold, says what is gained, and
which ridge gains most.

Sources: Kakade, A Natural Policy Gradient, 2001; Peters and Schaal, Natural Actor-Critic, 2008.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import torch
from torch import Tensor

FOLDS: Final = 8
"""Parts that games are dealt out to."""
RIDGES: Final = (1e4, 3e4, 1e5, 3e5, 1e6, 3e6)
"""Ridges that are tried: games that weigh as much as the expectation that nothing is to be learned."""
_LEAST: Final = 1e-6
"""Share of the mean variance of what scores are linear in that every part of it has at least."""
_NOTHING: Final = 1e-12


class Drawn(NamedTuple):
    """Decisions to learn from, with K options each.

    Attributes:
        rows: ``[B, K, D]`` float32, what scores are linear in.
        scores: ``[B, K]``, of the policy that drew.
        legal: ``[B, K]`` bool, the options there were.
        drawn: ``[B, K]`` bool, those drawn from; one if the decision was clear.
        chosen: ``[B]`` int64, the option that was drawn.
        weights: ``[B]``, decisions that each stands for.
        rewards: ``[B]``, what came of them, less its mean.
        folds: ``[B]`` int64, the folds of their games.
    """

    rows: Tensor
    scores: Tensor
    legal: Tensor
    drawn: Tensor
    chosen: Tensor
    weights: Tensor
    rewards: Tensor
    folds: Tensor


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

    def add(self, some: Drawn) -> None:
        """Add decisions."""
        for fold in range(FOLDS):
            here = some.folds == fold
            if here.any():
                self._add(fold, Drawn(*(part[here] for part in some)))

    def _add(self, fold: int, some: Drawn) -> None:
        log_draws = torch.log_softmax((some.scores / self._temperature).masked_fill(~some.drawn, -1e9), 1)
        draws = log_draws.exp()
        means = torch.einsum("bk,bkd->bd", draws, some.rows)
        apart = some.rows - means[:, None]
        chosen = apart[torch.arange(len(apart)), some.chosen]
        close = some.drawn.sum(1) > 1
        self._signal[fold] += ((some.weights * some.rewards)[:, None] * chosen).sum(0).double()
        others = self._nearness(some)
        for total, share in ((self._fisher, draws * close[:, None]), (self._others, others)):
            parts = (share * some.weights[:, None]).reshape(-1)
            kept = parts.nonzero()[:, 0]
            rows = apart.reshape(-1, apart.shape[2])[kept]
            total[fold] += ((rows * parts[kept, None]).T @ rows).double()
        entropies = -(draws * log_draws.masked_fill(~some.drawn, 0.0)).sum(1)
        seen = [close.float(), close * entropies, close * some.rewards**2, others.sum(1)]
        self._counts[fold] += (some.weights[:, None] * torch.stack(seen, 1)).sum(0).double()

    def _nearness(self, some: Drawn) -> Tensor:
        """``[B, K]``: how likely what was not drawn from is beside the likeliest option; 0 for what was."""
        legal = some.scores.masked_fill(~some.legal, -torch.inf)
        near = (legal - legal.max(1, keepdim=True).values).exp()
        return near.masked_fill(some.drawn | ~some.legal, 0.0)

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
        whole = fisher + hold * self._others[folds].sum(0) + torch.diag(prior)
        scores = fisher @ own
        spread = max(float(own @ scores), _NOTHING)
        found: Tensor = torch.linalg.solve(whole, signal - scores * (float(own @ signal) / spread))
        found = found - own * (float(found @ scores) / spread)
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
