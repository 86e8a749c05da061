"""Deals from any sampler of hands: the hands as it gives them, the rest of the tiles shuffled."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from game.errors import StateMismatchError
from game.tiles import RED_FIVES, face_of
from policies.deals.deal import Deals
from policies.deals.uniform import is_possible
from policies.deals.view import ANY_HAND, RoundView, Unseen
from policies.draws import drawn_bits
from policies.hands.sampler import HandSampler, SampledHands

_FACES: Final = np.array([face_of(tile) for tile in range(136)])


class DealsOfHands:
    """Completes the hands of a sampler to deals.

    Args:
        sampler: samples the opponents' hands.
    """

    def __init__(self, sampler: HandSampler) -> None:
        self._sampler = sampler

    def deals(self, view: RoundView, count: int, seed: int) -> Deals:
        """Sample deals; see `policies.deals.deal.DealSampler`."""
        unseen = Unseen.of(view)
        hands = self._sampler.sample(np.asarray(view.record).reshape(1), np.array([view.player]), count, seed)
        tiles = tiles_of_faces(unseen, faces_of(hands), seed)
        return Deals(view, unseen, tiles)


def faces_of(hands: SampledHands) -> NDArray[np.int8]:
    """``[n, 3, 37]`` int8: copies of each face in the hands of the first player asked about."""
    counts, reds = hands.counts[0], hands.reds[0].astype(np.int8)
    faces = np.concatenate([counts, reds], axis=-1)
    faces[..., [red >> 2 for red in RED_FIVES]] -= reds
    return faces


def tiles_of_faces(unseen: Unseen, faces: NDArray[np.int8], seed: int) -> NDArray[np.int16]:
    """``[n, M]``: deals in the order of `Deals.tiles` with these hands.

    Copies of a face are exchanged at random, and so is the rest of the tiles.

    Args:
        unseen: what is open.
        faces: ``[n, 3, 37]``, copies of each face in each hand.
        seed: determines what is random.

    Raises:
        StateMismatchError: hands do not fit what is open.
    """
    deals = np.empty((len(faces), len(unseen.tiles)), np.int16)
    for number, hands in enumerate(faces):
        rng = np.random.default_rng(drawn_bits(seed, number))
        wanted = hands.astype(np.int64)
        found: list[list[int]] = [[], [], [], []]
        for tile in rng.permutation(unseen.tiles).tolist():
            face = _FACES[tile]
            hand = next((hand for hand in range(3) if wanted[hand, face] > 0), 3)
            if hand < 3:
                wanted[hand, face] -= 1
            found[hand].append(tile)
        if wanted.any() or any(len(found[hand]) != unseen.sizes[hand] for hand in range(3)):
            raise StateMismatchError(f"sampled hands {number} do not fit what the player has seen")
        for hand in range(3):
            _put_drawn_last(found[hand], int(unseen.needs[hand]), int(unseen.melds[hand]))
        deals[number] = [tile for part in found for tile in part]
    return deals


def _put_drawn_last(hand: list[int], need: int, melds: int) -> None:
    """Choose which tile of a hand in riichi was drawn last.

    Raises:
        StateMismatchError: the hand cannot be that of a player in riichi.
    """
    if need == ANY_HAND:
        return
    counts = np.bincount(np.array(hand) >> 2, minlength=34).astype(np.int8)
    if len(hand) % 3 == 1 and is_possible(counts, need, melds, -1):
        return
    for place in range(len(hand)) if len(hand) % 3 == 2 else ():
        if is_possible(counts, need, melds, hand[place] >> 2):
            hand.append(hand.pop(place))
            return
    raise StateMismatchError("a sampled hand of a player in riichi is not tenpai")
