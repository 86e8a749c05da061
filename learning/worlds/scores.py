"""How close the hands of sampled deals are to the real ones, without playing anything."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.shanten import shanten, waits
from policies.deals.deal import Deals

_BITS: Final = np.arange(34, dtype=np.uint64)


class HandErrors(msgspec.Struct, frozen=True):
    """Squared errors of what the deals say on average, a mean over the opponents; 0 is perfect.

    The variance that comes from the number of deals is subtracted, as if there were any number of them; the
    variance that comes from few different hands behind them is not.

    Attributes:
        shanten: of the mean shanten.
        tenpai: of the share of tenpai hands.
        waits: of the share of deals in which a kind is a wait, summed over the kinds.
        held: of the share of deals in which a kind is held, summed over the kinds.
    """

    shanten: float
    tenpai: float
    waits: float
    held: float


def scores_of(deals: Deals, record: np.void) -> HandErrors:
    """Compare deals of equal weight with the real hands.

    Args:
        deals: two or more.
        record: the round with all hands.
    """
    counts = deals.sampled_hands().counts[0]
    errors = np.zeros((3, 4))
    for place, opponent in enumerate(deals.view.opponents):
        melds = int(record["meld_count"][opponent])
        true = _traits(record["hand34"][opponent].copy(), melds)
        sampled = [_traits(hand.copy(), melds) for hand in counts[:, place]]
        for trait in range(4):
            values = np.array([each[trait] for each in sampled])
            noise = values.var(axis=0, ddof=1) / len(values)
            errors[place, trait] = (np.square(values.mean(axis=0) - true[trait]) - noise).sum()
    means = errors.mean(axis=0).tolist()
    return HandErrors(*(round(each, 5) for each in means))


def _traits(counts: NDArray[np.int8], melds: int) -> tuple[NDArray[np.float64], ...]:
    """Shanten, tenpai, waits and kinds held of a hand."""
    ready = np.uint64(waits(counts, melds)) if counts.sum() % 3 == 1 else np.uint64(0)
    waited = ((ready >> _BITS) & np.uint64(1)).astype(np.float64)
    distance = shanten(counts, melds)
    return (
        np.array([float(distance)]),
        np.array([float(distance <= 0)]),
        waited,
        (counts > 0).astype(np.float64),
    )
