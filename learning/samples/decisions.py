"""Calls as decisions, for networks that answer one question a decision and not one for each meld."""

from __future__ import annotations

import numpy as np

from learning.samples.positions import Positions
from policies.chi_places import places_in_run
from policies.slots import Slot


def by_decision(found: Positions, slot: Slot) -> Positions:
    """The same decisions with one row each.

    The label of a chi is as `policies.chi_places` has it; that of another call is whether there was one.
    """
    decisions = np.arange(len(found.players))
    taken = np.flatnonzero(found.labels)
    labels = np.zeros(len(decisions), np.int8)
    labels[found.owners[taken]] = places_in_run(found.calls[taken]) if slot is Slot.CHI else 1
    return found._replace(
        owners=decisions.astype(found.owners.dtype),
        labels=labels,
        calls=found.calls[np.searchsorted(found.owners, decisions)],
    )
