"""The luck of deal-ins: the loss by a win on the discard itself in a play-out, compared with its expectation.

Such a win is rare and costs thousands of points, so it is most of the noise of a discard's value. The model
of the opponents' hands estimates its probability with less noise. Subtracting the luck replaces the loss by
its expectation: a control variate, unbiased as far as those probabilities are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from game.events import Discard, Win
from game.table.table import Table
from policies.hands.direct import DirectModel
from policies.heuristic.danger import danger_of

REWARD_OF_LUCK: Final = 5.3e-3
"""Final reward per point of luck: the coefficient of the control variate."""


def deal_in_costs(hands: DirectModel, record: np.void, player: int, kinds: list[int]) -> NDArray[np.float64]:
    """``[kinds]``: expected points lost to a win on each discard.

    Args:
        hands: the model of the opponents' hands; it uses only what the player sees.
        record: the round.
        player: who discards, absolute.
        kinds: of the discards.
    """
    points = danger_of(record, player, reads_melds=False).points
    costs: NDArray[np.float64] = points @ hands.read(np.array([record]), player).deal_ins[0][:, kinds]
    return costs


def luck_of_deal_ins(
    points: NDArray[np.float64], ends: Sequence[Table], now: int, costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The luck of each discard in points: the change by a win on it, if any, less the expected change.

    Args:
        points: ``[worlds, options]`` the player's points in the end.
        ends: the tables they are of, in that order, with the events since the discard.
        now: the player's points at the decision.
        costs: ``[options]`` from `deal_in_costs`.

    Returns:
        ``[worlds, options]``.
    """
    # an indicator owed for a kan is revealed before the discard
    next_events = [
        next(then for event, then in pairwise(table.events) if isinstance(event, Discard)) for table in ends
    ]
    won_on = np.array([isinstance(event, Win) for event in next_events]).reshape(points.shape)
    return np.where(won_on, points - now, 0.0) + costs
