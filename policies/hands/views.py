"""One player's knowledge of the other hands, and the interface of the samplers that fill them in."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.layout import AT_HAND, AT_UNSEEN
from game.tiles import KINDS, RED_FIVES
from policies.flow.draws import drawn_bits

OPPONENTS: Final = 3
_DIGEST: Final = 8


class View(NamedTuple):
    """A player's knowledge of the opponents' hands, in turn order from the player on.

    Attributes:
        unseen: ``[34]`` int8, copies of each kind that the player cannot see.
        reds: ``[3]`` bool, whether the red five of each suit is among them.
        sizes: ``[3]`` int64, concealed tiles of each opponent.
        melds: ``[3]`` int64, melds of each opponent.
        riichi: ``[3]`` bool, whether each has declared.
        own: ``[34]`` int8, the player's concealed tiles.
        own_reds: ``[3]`` bool, the red fives among them.
    """

    unseen: NDArray[np.int8]
    reds: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    melds: NDArray[np.int64]
    riichi: NDArray[np.bool_]
    own: NDArray[np.int8]
    own_reds: NDArray[np.bool_]


def view_of(record: np.void, player: int) -> View:
    """The view of one player.

    Args:
        record: one of `ROUND_STATE`; hands of the others are not read, even if they are known.
        player: whose view it is.
    """
    others = (player + 1 + np.arange(OPPONENTS)) % 4
    own = record["hand34"][player]
    where = record["where"][list(RED_FIVES)].astype(np.int64)
    mine = where == AT_HAND + player
    elsewhere = (where == AT_UNSEEN) | ((where >= AT_HAND) & (where < AT_HAND + 4))
    return View(
        unseen=np.full(KINDS, 4, np.int8) - record["seen34"] - own,
        reds=elsewhere & ~mine,
        sizes=record["hand_size"][others].astype(np.int64),
        melds=record["meld_count"][others].astype(np.int64),
        riichi=record["riichi"][others] > 0,
        own=own.copy(),
        own_reds=mine,
    )


def generator_for(planes: NDArray[np.uint8], seed: int) -> np.random.Generator:
    """Random numbers that belong to what a player sees, and to a seed.

    Args:
        planes: ``[C, 34]`` uint8, what the player sees.
        seed: any number.
    """
    digest = hashlib.blake2b(np.ascontiguousarray(planes).tobytes(), digest_size=_DIGEST).digest()
    return np.random.default_rng(drawn_bits(seed, int.from_bytes(digest, "little")))


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
