"""What one seat has seen of a round, and what that leaves open."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.layout import AT_UNSEEN
from game.observation import Observation
from game.restore import seen_by
from game.settlement import GameLength

ANY_HAND: Final = 0
"""Any tiles are possible."""
READY: Final = 1
"""The hand is tenpai; if a tile was just drawn, it is tenpai without it."""
READY_AFTER_DISCARD: Final = 2
"""Riichi has been declared: some discard leaves the hand tenpai."""


class RoundView(msgspec.Struct, frozen=True):
    """A round as one player sees it.

    Attributes:
        record: the round; the other hands are unknown.
        player: absolute.
        length: length of the game.
    """

    record: np.void
    player: int
    length: GameLength = "hanchan"

    @classmethod
    def of(cls, observation: Observation) -> RoundView:
        """The view of a player who must decide.

        Args:
            observation: the decision; what the player does not see is left out.
        """
        player = observation.player
        return cls(seen_by(observation.record, player), player, observation.length)

    @property
    def opponents(self) -> tuple[int, int, int]:
        """The other players, absolute: shimocha, toimen, kamicha."""
        return (self.player + 1) % 4, (self.player + 2) % 4, (self.player + 3) % 4


class Unseen(msgspec.Struct, frozen=True):
    """What a view leaves open.

    Attributes:
        tiles: ``[M]`` int16, the tiles that the player has not seen, ascending.
        sizes: ``[3]`` int64, concealed tiles of each opponent.
        needs: ``[3]`` int64, what is known of each hand: `ANY_HAND`, `READY` or `READY_AFTER_DISCARD`.
        melds: ``[3]`` int64, melds of each opponent.
    """

    tiles: NDArray[np.int16]
    sizes: NDArray[np.int64]
    needs: NDArray[np.int64]
    melds: NDArray[np.int64]

    @classmethod
    def of(cls, view: RoundView) -> Unseen:
        """What this view leaves open."""
        record, opponents = view.record, list(view.opponents)
        sizes = record["hand_size"][opponents].astype(np.int64)
        riichi = record["riichi"][opponents]
        needs = np.where(riichi > 0, READY, ANY_HAND)
        needs[(riichi == 1) & (sizes % 3 == 2)] = READY_AFTER_DISCARD
        return cls(
            np.flatnonzero(record["where"] == AT_UNSEEN).astype(np.int16),
            sizes,
            needs,
            record["meld_count"][opponents].astype(np.int64),
        )

    @property
    def ends(self) -> NDArray[np.int64]:
        """``[4]``: where each hand begins in a deal, and where the wall does."""
        return np.concatenate([[0], np.cumsum(self.sizes)])
