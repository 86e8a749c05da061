"""The natural policy gradient for weights in which scores are linear.

With φ what a score is linear in, π the policy that drew, and R what came of a decision, the natural gradient
w is the regression of R on ``φ(a) - μ``: what is linear in φ and best tells which options ended well.

    F w = g,    F = E[Σ π (φ - μ)(φ - μ)ᵀ],    g = E[(φ(a) - μ) R],    μ = Σ π φ

It is kept apart from the scores themselves: to follow them is to draw less at random, which gains whenever
something is drawn, and nothing for a player who takes the likeliest.

Sources: Kakade, A Natural Policy Gradient, 2001; Peters and Schaal, Natural Actor-Critic, 2008.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor

_NOTHING: Final = 1e-12


class Draws(NamedTuple):
    """Decisions that were drawn, with K options each.

    Attributes:
        rows: ``[B, K, D]`` float32, what scores are linear in.
        scores: ``[B, K]``, of the policy that drew.
        legal: ``[B, K]`` bool, the options there were.
        drawn: ``[B, K]`` bool, those drawn from; one if the decision was clear.
        chosen: ``[B]`` int64, the option that was drawn.
        weights: ``[B]``, decisions that each stands for.
    """

    rows: Tensor
    scores: Tensor
    legal: Tensor
    drawn: Tensor
    chosen: Tensor
    weights: Tensor


class DrawMoments(NamedTuple):
    """What the natural gradient needs of decisions.

    Attributes:
        chosen: ``[B, D]``, what was drawn less what was to be expected.
        fisher: ``[D, D]`` float64, the sum of the squares of that, as they were to be expected.
        others: ``[D, D]`` float64, the same of options not drawn from, by how near they are to the likeliest.
        nearness: ``[B]``, how many options not drawn from there are, by the same measure.
        entropies: ``[B]``, of the draws, in nats.
    """

    chosen: Tensor
    fisher: Tensor
    others: Tensor
    nearness: Tensor
    entropies: Tensor


def draw_moments(draws: Draws, temperature: float) -> DrawMoments:
    """What the natural gradient needs of decisions.

    Args:
        draws: the decisions.
        temperature: of the draws.
    """
    log_chances = torch.log_softmax((draws.scores / temperature).masked_fill(~draws.drawn, -1e9), 1)
    chances = log_chances.exp()
    apart = draws.rows - torch.einsum("bk,bkd->bd", chances, draws.rows)[:, None]
    close = draws.drawn.sum(1) > 1
    nearness = _nearness(draws)
    sums = []
    for share in (chances * close[:, None], nearness):
        parts = (share * draws.weights[:, None]).reshape(-1)
        kept = parts.nonzero()[:, 0]
        rows = apart.reshape(-1, apart.shape[2])[kept]
        sums.append(((rows * parts[kept, None]).T @ rows).double())
    return DrawMoments(
        chosen=apart[torch.arange(len(apart)), draws.chosen],
        fisher=sums[0],
        others=sums[1],
        nearness=nearness.sum(1),
        entropies=-(chances * log_chances.masked_fill(~draws.drawn, 0.0)).sum(1),
    )


def _nearness(draws: Draws) -> Tensor:
    """``[B, K]``: how likely what was not drawn from is beside the likeliest option; 0 for what was."""
    legal = draws.scores.masked_fill(~draws.legal, -torch.inf)
    near = (legal - legal.max(1, keepdim=True).values).exp()
    return near.masked_fill(draws.drawn | ~draws.legal, 0.0)


def natural_gradient(signal: Tensor, fisher: Tensor, held: Tensor, own: Tensor) -> Tensor:
    """``[D]`` float64: the function of the rows that tells best what came of draws.

    Args:
        signal: ``[D]``, the sum of `DrawMoments.chosen` times what came of each.
        fisher: ``[D, D]``, as in `DrawMoments`.
        held: ``[D, D]``, what is added to it to keep the function small.
        own: ``[D]``, the function that the scores are, which it is kept apart from.
    """
    scores = fisher @ own
    spread = max(float(own @ scores), _NOTHING)
    found: Tensor = torch.linalg.solve(fisher + held, signal - scores * (float(own @ signal) / spread))
    return found - own * (float(found @ scores) / spread)
