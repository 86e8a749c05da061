"""Afterstates: the positions that discards lead to, before anyone answers them.

What a discard is worth is what its afterstate is worth. So a critic of afterstates learns how to compare
discards from all positions that it sees, not only from those that were alike but for the discard.

Source: Sutton and Barto, Reinforcement Learning, section 6.8.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.errors import StateMismatchError
from game.fold import REASONS, fold_one
from game.fold.reasons import FITS, TILE_ELSEWHERE
from game.jit import kernel
from game.layout import AT_HAND
from game.packing import DISCARD
from game.tiles import RED_FIVES

_RED: Final = np.array(RED_FIVES)


class Afterstates(NamedTuple):
    """The positions after some discards of each of several decisions.

    Attributes:
        states: ``[M]`` of `game.layout.ROUND_STATE`.
        rows: ``[M]`` the decision each comes from.
        kinds: ``[M]`` the kind discarded.
    """

    states: NDArray[np.void]
    rows: NDArray[np.int64]
    kinds: NDArray[np.int64]

    def some(self, rows: slice) -> Afterstates:
        """Some of them."""
        return Afterstates(self.states[rows], self.rows[rows], self.kinds[rows])


def after_discards(
    states: NDArray[np.void], players: NDArray[np.int8], kinds: NDArray[np.bool_]
) -> Afterstates:
    """What discards lead to.

    A red five is only discarded if there is no other; the tile just drawn goes first.

    Args:
        states: ``[N]`` of `game.layout.ROUND_STATE`, each when the player discards.
        players: ``[N]`` absolute.
        kinds: ``[N, 34]``: the kinds to discard from each.

    Raises:
        StateMismatchError: a player does not hold such a tile, or may not discard now.
    """
    rows, chosen = np.nonzero(kinds)
    after = states[rows]
    reason = _discard_all(after, players[rows].astype(np.int64), chosen, _RED)
    if reason != FITS:
        raise StateMismatchError(f"a discard does not fit: {REASONS[reason]}")
    return Afterstates(after, rows, chosen)


@kernel
def _discard_all(records: Any, players: Any, kinds: Any, red: Any) -> int:
    """Fold a discard into each record; 0, or why one does not fit."""
    code = np.zeros(4, np.int16)
    code[0] = DISCARD
    for at in range(records.size):
        rec = records[at]
        drawn = rec.drawn
        tile = -1
        for copy in range(4 * kinds[at], 4 * kinds[at] + 4):
            if rec.where[copy] != AT_HAND + players[at]:
                continue
            worse = copy in red
            if tile < 0 or (tile in red and not worse) or (copy == drawn and not worse):
                tile = copy
        if tile < 0:
            return TILE_ELSEWHERE
        code[1] = players[at]
        code[2] = tile
        code[3] = tile == drawn
        reason = fold_one(rec, code)
        if reason != FITS:
            return reason
    return FITS
