"""The position of a two-player game as one NumPy record, the numbers of the actions, and walls.

A record is 120 bytes and refers to nothing, so copying it is the cheap undo of a search: a recursion needs
one record for each level.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.tiles import KINDS
from kit.jit import kernel

PLAYERS: Final = 2
TILES: Final = 64
DEALT: Final = 13
"""Tiles dealt to each player."""
DRAWS: Final = TILES - PLAYERS * DEALT
"""Tiles in the wall after the deal: the paper's 38 rounds."""
DECK: Final = (*range(9), *range(27, 34))
"""The 16 kinds, four tiles of each: characters and honours."""

# The phases of a turn; the paper's 0, 1 and 2.
CLAIM: Final = 0
"""The other player has discarded: pass, chi, pon, kan or win."""
DRAWN: Final = 1
"""The player has drawn: win, kan or pass."""
DISCARD: Final = 2
"""The player must discard."""
OVER: Final = 3

NOBODY: Final = -1
NO_TILE: Final = -1

# The actions.
PASS: Final = 0
WIN: Final = 1
PON: Final = 2
DAIMINKAN: Final = 3
CHI: Final = 4
"""A chi; plus the lowest kind of the sequence (0-6)."""
ANKAN: Final = 11
"""A closed kan; plus the kind."""
KAKAN: Final = ANKAN + KINDS
"""An added kan; plus the kind."""
DISCARD_OF: Final = KAKAN + KINDS
"""A discard; plus the kind."""
ACTIONS: Final = DISCARD_OF + KINDS

# The kinds of melds: a meld is stored as 34 times one of these, plus its (lowest) kind.
MELD_CHI: Final = 0
MELD_PON: Final = 1
MELD_ANKAN: Final = 2
MELD_DAIMINKAN: Final = 3
MELD_KAKAN: Final = 4
NO_MELD: Final = 255

POINTS_NORMAL: Final = 1
POINTS_SPECIAL: Final = 2
"""Of all triplets and of seven pairs."""

POSITION: Final = np.dtype(
    [
        ("phase", "i1"),
        ("player", "i1"),  # to act
        ("offered", "i1"),  # kind of the discard that may be claimed, -1 if none
        ("drawn", "i1"),  # kind just drawn, -1 if none
        ("front", "i1"),  # index of the next tile to draw
        ("back", "i1"),  # index past the last tile; a kan draws from there
        ("winner", "i1"),  # -1 if none
        ("points", "i1"),  # of the win
        ("hands", "i1", (PLAYERS, KINDS)),  # concealed tiles by kind
        ("meld_count", "i1", (PLAYERS,)),
        ("melds", "u1", (PLAYERS, 4)),  # in order of call, 255 past the end
        ("public", "i1", (KINDS,)),  # tiles in rivers and melds by kind
    ]
)


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
    """64 bits (uint64) that belong to three numbers; those of `policies.flow.draws.drawn_bits`."""
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
