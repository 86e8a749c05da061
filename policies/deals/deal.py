"""Whole hidden deals: the opponents' hands and the wall, ready to become tables."""

from __future__ import annotations

from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.layout import AT_UNSEEN
from game.restore import concealed_hands
from game.table import Table
from game.tiles import RED_FIVES
from policies.deals.view import RoundView, Unseen
from policies.hands.sampler import SampledHands


class Deals(msgspec.Struct, frozen=True):
    """Deals that one player cannot tell from the real one.

    Attributes:
        view: what the player has seen.
        unseen: what that leaves open.
        tiles: ``[n, M]`` int16, all unseen tiles: the hands of shimocha, toimen and kamicha, each with a tile
            just drawn last, then the hidden tiles in deal order (`game.walls.hidden_places`).
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

    def sampled_hands(self) -> SampledHands:
        """The opponents' hands as counts, ``N`` being 1."""
        counts = np.zeros((1, len(self), 3, 34), np.int8)
        reds = np.zeros((1, len(self), 3, 3), np.bool_)
        ends, rows = self.unseen.ends, np.arange(len(self))
        for opponent in range(3):
            for place in range(ends[opponent], ends[opponent + 1]):
                counts[0, rows, opponent, self.tiles[:, place] >> 2] += 1
            hand = self.tiles[:, ends[opponent] : ends[opponent + 1]]
            for suit, red in enumerate(RED_FIVES):
                reds[0, :, opponent, suit] = (hand == red).any(axis=1)
        return SampledHands(counts, reds)


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
