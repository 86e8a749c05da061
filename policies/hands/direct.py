"""Describes the opponents' hands without generating any: shanten, waits, deal-ins and copies."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.checkpoint.card import Card
from policies.checkpoint.store import load
from policies.features.draw import kinds_of
from policies.features.encode import encode
from policies.features.table import KINDS
from policies.nets.architectures import BY_KIND, OPPONENTS, SHANTEN_CLASSES, Floats, Weights
from policies.nets.compute import sigmoid, softmax
from policies.nets.fused import FusedNetwork

HAND_MODELS_FOLDER: Final = Path(__file__).parents[1] / "checkpoints" / "hands"
"""The included models of hands."""
_ROWS: Final = 32
"""Computed at a time; more are hardly faster."""


class Readings(msgspec.Struct, frozen=True):
    """Probabilities about the opponents of N players, in turn order from each player on.

    Attributes:
        shanten: ``[N, 3, 7]`` of shanten 0 to 5, and of 6 or more.
        waits: ``[N, 3, 34]`` that the hand waits on each kind, whether or not it can win on it.
        deal_ins: ``[N, 3, 34]`` that each kind, discarded now, is won on: a wait with yaku and no furiten.
        copies: ``[N, 3, 34, 5]`` of 0 to 4 concealed copies of each kind.
    """

    shanten: NDArray[np.float32]
    waits: NDArray[np.float32]
    deal_ins: NDArray[np.float32]
    copies: NDArray[np.float32]

    @property
    def tenpai(self) -> NDArray[np.float32]:
        """``[N, 3]``: the probability of a ready hand."""
        return self.shanten[:, :, 0]


class DirectModel:
    """The direct heads.

    Args:
        weights: of the model `direct`.
        card: its card.
    """

    def __init__(self, weights: Weights, card: Card) -> None:
        self._network, self.card = FusedNetwork(weights), card

    @classmethod
    def load(cls, folder: Path = HAND_MODELS_FOLDER) -> Self:
        """The direct model of a folder.

        Raises:
            CheckpointError: it cannot be used.
        """
        checkpoint = load(folder, "direct")
        return cls(checkpoint.weights, checkpoint.card)

    def read(self, records: NDArray[np.void], players: ArrayLike) -> Readings:
        """Describe the opponents' hands.

        What is certain is put right: a hand in riichi is ready, and a kind on which an opponent cannot win,
        having discarded it or let it pass, does not deal in.

        Args:
            records: ``[N]`` of `ROUND_STATE`; only what each player has seen is used.
            players: ``[N]``, whose view it is, absolute, or one for all.
        """
        whose = np.broadcast_to(np.asarray(players, np.int64), len(records))
        parts = [
            self._read(records[first : first + _ROWS], whose[first : first + _ROWS])
            for first in range(0, max(1, len(records)), _ROWS)
        ]
        return Readings(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def _read(self, records: NDArray[np.void], players: NDArray[np.int64]) -> tuple[Floats, ...]:
        scores = self._network(encode(records, players, self.card.features))
        first = OPPONENTS * SHANTEN_CLASSES
        shanten = softmax(scores[:, :first].reshape(-1, OPPONENTS, SHANTEN_CLASSES))
        by_kind = scores[:, first:].reshape(-1, OPPONENTS, BY_KIND, KINDS)
        waits, deal_ins = (sigmoid(by_kind[:, :, each]) for each in range(2))
        copies = softmax(by_kind[:, :, 2:].swapaxes(2, 3))
        rows = np.arange(len(players))[:, None]
        others = (players[:, None] + 1 + np.arange(OPPONENTS)) % 4
        ready = np.zeros(shanten.shape[2], np.float32)
        ready[0] = 1.0
        shanten[records["riichi"][rows, others] > 0] = ready
        safe = records["river34"] | records["safe34"] | records["turn_safe34"]
        deal_ins[kinds_of(safe[rows, others].reshape(-1)).reshape(deal_ins.shape)] = 0.0
        return shanten, waits, deal_ins, copies
