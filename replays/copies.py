"""Maps faces to physical tiles, for formats that contain faces only.

Each face gets its lowest copy that is free at its place, so that reading a record twice gives the same game.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import numpy as np

from game.tiles import RED_FIVES, kind_of

_FIVES: Final = tuple(kind_of(tile) for tile in RED_FIVES)


def copies_of(face: int, *, has_red: bool = True) -> tuple[int, ...]:
    """The physical tiles with a given face.

    Args:
        face: as from `game.tiles.face_of`: a kind, or 34, 35, 36 for the red fives.
        has_red: whether copy 0 of this face's kind is red; without it all four fives are equal.

    >>> copies_of(4), copies_of(34), copies_of(4, has_red=False)
    ((17, 18, 19), (16,), (16, 17, 18, 19))
    """
    if face >= 34:
        return (RED_FIVES[face - 34],)
    return tuple(range(4 * face + (has_red and face in _FIVES), 4 * face + 4))


def free_copy(record: np.void, copies: Iterable[int], place: int, taken: Collection[int] = ()) -> int | None:
    """The first of these tiles that lies at a place (``AT_*``) and is not taken yet; None if none does."""
    where = record["where"]
    return next((tile for tile in copies if tile not in taken and where[tile] == place), None)
