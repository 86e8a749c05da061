"""Calls as decisions, for networks that answer one question a decision and not one for each meld."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from learning.samples.positions import Positions
from policies.features.permute import SUIT_PERMUTATIONS
from policies.slots import Slot

_CALLED, _OWN = 1, slice(2, 4)
"""Columns of `Positions.calls`: the called tile, and the tiles of the hand that join it in a run."""
_RUN: Final = 3


def by_decision(found: Positions, slot: Slot) -> Positions:
    """The same decisions with one row each.

    The label of a chi is 0 for none, else 1, 2, 3 if the called tile is the lowest, the middle, the highest
    of the run; that of another call is whether there was one.
    """
    decisions = np.arange(len(found.players))
    taken = np.flatnonzero(found.labels)
    labels = np.zeros(len(decisions), np.int8)
    labels[found.owners[taken]] = _place_in_run(found.calls[taken]) if slot is Slot.CHI else 1
    return found._replace(
        owners=decisions.astype(found.owners.dtype),
        labels=labels,
        calls=found.calls[np.searchsorted(found.owners, decisions)],
    )


def mirrored_runs(labels: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The labels of chi after permutations of the tiles: in a mirrored run the lowest tile is the highest."""
    swapped = (numbers >= SUIT_PERMUTATIONS) & (labels > 0)
    return np.where(swapped, _RUN + 1 - labels, labels)


def _place_in_run(calls: NDArray[np.int16]) -> NDArray[np.int8]:
    called, own = calls[:, _CALLED] >> 2, calls[:, _OWN] >> 2
    places: NDArray[np.int8] = 1 + (called[:, None] > own).sum(1, dtype=np.int8)
    return places
