"""A second score for discards that are nearly as likely as the likeliest one: it decides between them.

What learns to set close discards apart also moves the others, of which it has learned nothing; if it can, one
of these gets ahead. A second score counts among the close discards only, and less its mean over them, so it
never lifts another one above the likeliest of them. It begins without effect.
"""

from __future__ import annotations

import math
from typing import Final

import torch
from torch import Tensor, nn

from policies.features.table import LITE, SETS
from policies.towers.suits import Columns, SuitsScores

HELD: Final = SETS[LITE].at("A1")
"""The plane of the kinds in the hand, in every feature set whose networks have suits apart."""


class TieBreak(nn.Module):
    """The second score.

    Args:
        width: channels of the tower.
        share: of the likeliest discard's probability from which a discard is close to it.
    """

    def __init__(self, width: int, share: float) -> None:
        super().__init__()
        self.share = share
        self.score = SuitsScores(width, 1)
        for part in (self.score.suits, self.score.honours):
            nn.init.zeros_(part.weight)
            assert part.bias is not None
            nn.init.zeros_(part.bias)

    def forward(self, scores: Tensor, x: Columns, held: Tensor) -> Tensor:
        """Add it to scores.

        Args:
            scores: ``[B, 34]``, the first ones.
            x: columns of ``width`` channels.
            held: ``[B, 34]`` bool, kinds in the hand.
        """
        return between_close(scores, self.score(x).squeeze(1), held, self.share)


def between_close(scores: Tensor, second: Tensor, held: Tensor, share: float) -> Tensor:
    """Scores with the second ones of close discards.

    Args:
        scores: ``[B, 34]``, the first ones.
        second: ``[B, 34]``.
        held: ``[B, 34]`` bool, kinds in the hand.
        share: as for `TieBreak`.
    """
    return scores + among_close(second[..., None], close_discards(scores, held, share)).squeeze(2)


def close_discards(scores: Tensor, held: Tensor, share: float) -> Tensor:
    """Kinds that are at least a share as likely as the likeliest; arguments as for `between_close`.

    Returns:
        ``[B, 34]`` bool.
    """
    likeliest = scores.masked_fill(~held, -torch.inf).amax(1, keepdim=True)
    return held & (scores >= likeliest + math.log(share))


def among_close(values: Tensor, close: Tensor) -> Tensor:
    """What close discards have more than their mean; 0 for the others.

    Args:
        values: ``[B, 34, D]``.
        close: ``[B, 34]`` bool.
    """
    kept = values * close[..., None]
    mean = kept.sum(1, keepdim=True) / close.sum(1).clamp_min(1)[:, None, None]
    return (values - mean) * close[..., None]
