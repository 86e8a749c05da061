"""Whole hidden deals: one seat's view of a round, and the opponents' hands and the wall that fit it."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.layout import AT_UNSEEN
from game.observation import Observation
from game.scoring.settlement import GameLength
from game.table.restore import concealed_hands, seen_by
from game.table.table import Table

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
    """The tiles that a view leaves open.

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
        """The tiles that this view leaves open."""
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


class Deals(msgspec.Struct, frozen=True):
    """Deals that one player cannot tell from the real one.

    Attributes:
        view: what the player has seen.
        unseen: what that leaves open.
        tiles: ``[n, M]`` int16, all unseen tiles: the hands of shimocha, toimen and kamicha, each with a tile
            just drawn last, then the hidden tiles in deal order (`game.table.walls.hidden_places`).
    """

    view: RoundView
    unseen: Unseen
    tiles: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.tiles)

    def hands(self, number: int) -> list[list[int]]:
        """All four hands of a deal by absolute player, a tile just drawn last."""
        hands = concealed_hands(self.view.record)
        ends = self.unseen.ends
        for place, opponent in enumerate(self.view.opponents):
            hands[opponent] = self.tiles[number, ends[place] : ends[place + 1]].tolist()
        return hands

    def hidden(self, number: int) -> list[int]:
        """The hidden tiles of a deal, in deal order."""
        hidden: list[int] = self.tiles[number, self.unseen.ends[3] :].tolist()
        return hidden

    def table(self, number: int, seed: int | None = None) -> Table:
        """A deal as a table to play on at.

        Args:
            number: the deal.
            seed: determines the walls of later rounds.
        """
        return Table.restore(
            self.view.record, self.hands(number), self.hidden(number), length=self.view.length, seed=seed
        )


class DealSampler(Protocol):
    """Anything that samples whole deals."""

    def deals(self, view: RoundView, count: int, seed: int) -> Deals:
        """Sample deals that fit everything the player has seen.

        Args:
            view: what the player has seen.
            count: number of deals.
            seed: determines them.

        Raises:
            StateMismatchError: no deal fits the view.
        """


def true_deals(view: RoundView, record: np.void, count: int, seed: int) -> Deals:
    """Deals with the opponents' true hands, where they are known; only the wall is drawn.

    Args:
        view: what the player has seen.
        record: the same round with all hands.
        count: number of deals.
        seed: determines the walls.
    """
    hands = concealed_hands(record)
    held = [tile for opponent in view.opponents for tile in hands[opponent]]
    hidden = np.flatnonzero(record["where"] == AT_UNSEEN)
    rng = np.random.default_rng(seed)
    tiles = np.array([[*held, *rng.permutation(hidden)] for _ in range(count)], np.int16)
    return Deals(view, Unseen.of(view), tiles)
