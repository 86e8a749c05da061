"""The interface of every sampler of hands."""

from __future__ import annotations

from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray


class SampledHands(msgspec.Struct, frozen=True):
    """Concealed hands of the opponents of N players, n samples each.

    The opponents are in turn order from the player on: shimocha, toimen, kamicha.

    Attributes:
        counts: ``[N, n, 3, 34]`` int8, copies of each tile kind, red fives included.
        reds: ``[N, n, 3, 3]`` bool, whether the red five of characters, dots and bamboo is among them.
    """

    counts: NDArray[np.int8]
    reds: NDArray[np.bool_]


class HandSampler(Protocol):
    """Anything that samples the opponents' hands.

    Samples are always consistent with what the player has seen: the sizes of the hands, the copies of each
    tile left, the player's own hand, melds, rivers and indicators; a player in riichi holds a ready hand.
    """

    def sample(
        self, records: NDArray[np.void], players: NDArray[np.intp], count: int, seed: int
    ) -> SampledHands:
        """Sample hands for many players at once.

        Args:
            records: ``[N]`` of `game.layout.ROUND_STATE`; only what the player has seen is used.
            players: ``[N]``, whose view it is, absolute.
            count: samples for each.
            seed: determines them; the samples of one player do not depend on the others asked for.
        """
