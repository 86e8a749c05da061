"""Random numbers for kernels: they belong to a seed, a deal and a moment, and depend on nothing else."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.jit import kernel
from game.two_player.layout import DECK, TILES

_uint64: Final[Any] = np.uint64
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_SORTED: Final = np.repeat(np.array(DECK, np.int8), 4)


@kernel
def _scrambled(number: Any) -> Any:
    """The finaliser of SplitMix64."""
    number = (number ^ (number >> _uint64(30))) * _FIRST
    number = (number ^ (number >> _uint64(27))) * _SECOND
    return number ^ (number >> _uint64(31))


@kernel
def drawn_bits(seed: int, deal: int, moment: int) -> Any:
    """64 bits (uint64) that belong to three numbers; those of `policies.draws.drawn_bits`."""
    mixed = _scrambled(_uint64(seed) + _GOLDEN)
    mixed = _scrambled((mixed ^ _uint64(deal)) + _GOLDEN)
    return _scrambled((mixed ^ _uint64(moment)) + _GOLDEN)


@kernel
def drawn_share(seed: int, deal: int, moment: int) -> float:
    """A number in [0, 1) that belongs to three numbers."""
    return float(drawn_bits(seed, deal, moment) >> _uint64(11)) * 2.0**-53


@kernel
def shuffle(seed: int, deal: int, wall: NDArray[np.int8]) -> None:
    """Fill a wall with the 64 tiles in the order that belongs to a seed and a deal.

    Args:
        seed: of the series.
        deal: number of the deal, from 0.
        wall: ``[64]`` int8, filled with kinds.
    """
    for place in range(TILES):
        wall[place] = _SORTED[place]
    for place in range(TILES - 1, 0, -1):
        other = int(drawn_share(seed, deal, -place) * (place + 1))
        wall[place], wall[other] = wall[other], wall[place]
