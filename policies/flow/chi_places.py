"""Chi as one decision with four answers: none, or the place of the called tile in the run.

0 is none; 1, 2 and 3 are a run of which the called tile is the lowest, the middle and the highest.

Source: Mizuguchi and Fujita, "Learning behavioral models of mahjong players with enhanced convolution",
section 2.1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from policies.features.permute import SUIT_PERMUTATIONS

_CALLED: Final = 1
_OWN: Final = slice(2, 4)
"""Columns of a call's row: the called tile, and the tiles of the hand that join it in a run."""
_RUN: Final = 3


def places_in_run(calls: NDArray[np.int16]) -> NDArray[np.int8]:
    """The place of the called tile, ``[N]``.

    Args:
        calls: ``[N, 6]`` chi as `game.rules.legal_rows` writes them.

    >>> from game.actions import Action, ActionKind
    >>> from game.rules import action_row
    >>> from game.tiles import parse_hand
    >>> called, *own = parse_hand("324m")
    >>> places_in_run(np.array([action_row(Action(ActionKind.CHI, called, tuple(own)))]))
    array([2], dtype=int8)
    """
    called, own = calls[:, _CALLED] >> 2, calls[:, _OWN] >> 2
    places: NDArray[np.int8] = 1 + (called[:, None] > own).sum(1, dtype=np.int8)
    return places


def mirrored_places(places: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The places, or 0, after permutations of the tiles: in a mirrored run the lowest tile is the highest.

    >>> mirrored_places(np.array([0, 1, 2, 3]), np.array([6]))
    array([0, 3, 2, 1])
    """
    swapped = (numbers >= SUIT_PERMUTATIONS) & (places > 0)
    return np.where(swapped, _RUN + 1 - places, places)
