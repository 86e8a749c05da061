"""What a player makes of deals by one policy and by another, played in earnest over the same tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.errors import ModelError
from policies.deals.deal import Deals
from policies.playouts import EndWorth
from policies.rollout import TABLES, PolicyChooser, Rollout, Seating
from policies.slots import Policy


class Trial(NamedTuple):
    """What a policy was worth more than another.

    Attributes:
        gain: mean over the deals, by their weights.
        error: its standard error.
    """

    gain: float
    error: float


def worth_of_deals(
    policy: Policy, others: Policy, deals: Deals, worth: EndWorth, between: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """``[n]``: what the ends of the round are worth if the player takes what a policy finds best.

    Args:
        policy: of the player.
        others: of the other three.
        deals: what the player is facing.
        worth: says what an end is worth.
        between: called after each step of the rounds; what it raises ends them.

    Raises:
        ModelError: a table crashed.
    """
    player = deals.view.player
    first, second, third, fourth = (int(each != player) for each in range(4))
    tables = (
        (Seating(number, number, (first, second, third, fourth)), deals.table(number, seed=0))
        for number in range(len(deals))
    )
    rollout = Rollout([PolicyChooser(policy), PolicyChooser(others)], tables=TABLES, length=deals.view.length)
    try:
        ended = {seating.number: table for seating, table in rollout.finish_rounds(tables, between=between)}
    except RuntimeError as error:
        raise ModelError(f"a play-out crashed: {error}") from error
    return worth([ended[number] for number in range(len(deals))], player)


def trial(
    policy: Policy, start: Policy, deals: Deals, worth: EndWorth, between: Callable[[], None] = lambda: None
) -> Trial:
    """What a policy is worth more to a player than that of the start, by which the others play.

    Args:
        policy: on trial.
        start: the other one.
        deals: at least 2; the same for both.
        worth: as in `worth_of_deals`.
        between: as in `worth_of_deals`.

    Raises:
        ModelError: a table crashed.
    """
    after, before = (worth_of_deals(each, start, deals, worth, between) for each in (policy, start))
    gains, shares = after - before, deals.weights / deals.weights.sum()
    gain = float(shares @ gains)
    return Trial(gain, float(np.sqrt(shares**2 @ (gains - gain) ** 2)))
