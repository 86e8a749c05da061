"""What the direct model of hands says about the opponents at the moments of a review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replays.review import schema
from replays.review.moments import Moment

if TYPE_CHECKING:
    from policies.hands.direct import DirectModel


class HandReading(NamedTuple):
    """Probabilities about the three opponents of one moment, by seat from shimocha on.

    Attributes:
        shanten: ``[3, 7]`` of shanten 0 to 5, and of 6 or more.
        deal_ins: ``[3, 34]`` that each kind deals in if it is discarded now.
    """

    shanten: NDArray[np.float32]
    deal_ins: NDArray[np.float32]


def hand_readings(
    moments: Sequence[Moment], player: int, model: DirectModel | None
) -> list[HandReading | None]:
    """A reading of each moment; None without a model."""
    if model is None or not moments:
        return [None] * len(moments)
    found = model.read(np.array([moment.record for moment in moments]), player)
    return [HandReading(*each) for each in zip(found.shanten, found.deal_ins, strict=True)]


def learned_danger(
    reading: HandReading | None, kind: int, points: NDArray[np.float64]
) -> schema.LearnedDanger | None:
    """The danger of a discard.

    Args:
        reading: of the moment.
        kind: the kind discarded.
        points: ``[3]`` points of each opponent's hand.
    """
    if reading is None:
        return None
    chances = reading.deal_ins[:, kind].astype(np.float64)
    first, second, third = (round(float(chance), 5) for chance in chances)
    return schema.LearnedDanger(deal_in=(first, second, third), cost=round(float(chances @ points), 1))


def shanten_chances(reading: HandReading | None, seat: int) -> schema.ShantenChances | None:
    """The probabilities of an opponent's shanten, by seat from 0 for shimocha."""
    if reading is None:
        return None
    zero, one, two, three, four, five, more = (round(float(chance), 4) for chance in reading.shanten[seat])
    return zero, one, two, three, four, five, more
