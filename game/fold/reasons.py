"""Shared by all parts of the fold: the reasons why an event is impossible, and the bit of a kind.

The fold accepts what the tiles and the order of play allow. `game.forbidden` decides whether the rules permit
it: a server does not enforce every rule, and what it reports has happened.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kit.jit import kernel

REASONS: Final = (
    "",
    "no such event",
    "the packed event is cut short",
    "no such player",
    "no such tile",
    "not this player's move",
    "not possible at this moment of the round",
    "the tile lies elsewhere",
    "the tile is not the one just drawn or discarded",
    "these tiles make no such meld",
    "the wall is exhausted",
    "no kan asks for this indicator",
    "riichi has been declared already",
    "the numbers of the round do not add up",
    "too many discards",
)
(
    FITS,
    BAD_CODE,
    CUT_SHORT,
    BAD_PLAYER,
    BAD_TILE,
    NOT_TO_MOVE,
    WRONG_MOMENT,
    TILE_ELSEWHERE,
    WRONG_TILE,
    NO_MELD,
    WALL_EMPTY,
    NO_KAN,
    DECLARED,
    BAD_NUMBERS,
    RIVER_FULL,
) = range(len(REASONS))


@kernel
def bit(kind: int) -> Any:
    """The bit of a kind in a 34-bit mask."""
    return np.uint64(1) << np.uint64(kind)
