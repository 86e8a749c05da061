"""The heads that describe the opponents' concealed hands directly, without generating one.

Source: the direct prediction model of Sasaki, "Hand Generation in Mahjong using Diffusion Process Model",
Dwango Media Village 2023; deal-ins and copies are ours.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor, nn

from policies.features.table import KINDS
from policies.nets.architectures import BY_KIND, OPPONENTS, SHANTEN_CLASSES
from policies.nets.towers.suits import Columns, SuitsScores, SuitsYesNoHead

_FIRST_BIAS: Final = (-4.0, -4.5, -0.3, -1.5, -3.0, -5.0, -8.0)
"""Where the scores of a kind begin, about at the logarithms of how common the answers are."""


class HandScores(NamedTuple):
    """The scores of the opponents' hands, in turn order from the player on.

    Attributes:
        shanten: ``[B, 3, 7]`` logits.
        waits: ``[B, 3, 34]`` logits of each kind to be a wait.
        deal_ins: ``[B, 3, 34]`` logits of each kind to deal in if it is discarded now.
        copies: ``[B, 3, 34, 5]`` logits of the copies of each kind in the hand.
    """

    shanten: Tensor
    waits: Tensor
    deal_ins: Tensor
    copies: Tensor


class HandsHead(nn.Module):
    """All scores about the opponents' hands, in one row; `hand_scores` takes them apart."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.shanten = SuitsYesNoHead(width, OPPONENTS * SHANTEN_CLASSES)
        self.kinds = SuitsScores(width, OPPONENTS * BY_KIND)
        for layer in (self.kinds.suits, self.kinds.honours):
            layer.bias = nn.Parameter(torch.tensor(_FIRST_BIAS * OPPONENTS))

    def forward(self, x: Columns) -> Tensor:
        """Columns of ``width`` channels to ``[B, 735]``."""
        return torch.cat([self.shanten(x), self.kinds(x).flatten(1)], 1)


def hand_scores(scores: Tensor) -> HandScores:
    """The parts of ``[B, 735]`` scores."""
    first = OPPONENTS * SHANTEN_CLASSES
    by_kind = scores[:, first:].view(-1, OPPONENTS, BY_KIND, KINDS)
    return HandScores(
        scores[:, :first].view(-1, OPPONENTS, SHANTEN_CLASSES),
        by_kind[:, :, 0],
        by_kind[:, :, 1],
        by_kind[:, :, 2:].transpose(2, 3),
    )
