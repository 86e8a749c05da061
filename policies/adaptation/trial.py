"""Tests a policy against another on the same deals, each taking its most likely actions."""

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
    """The gain of a policy over another.

    Attributes:
        gain: mean over the deals.
        error: its standard error.
    """

    gain: float
    error: float


def worth_of_deals(
    policy: Policy, others: Policy, deals: Deals, worth: EndWorth, between: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """``[n]``: the worth of each deal's round to the player, played by the most likely actions.

    Args:
        policy: of the player.
        others: of the other three.
        deals: possible deals of the player's round.
        worth: values the ends of rounds.
        between: called after each step of the rounds; an exception from it ends them.

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
    """Estimate a player's gain from one policy over the initial one, which the others play by.

    Args:
        policy: the policy to test.
        start: the initial policy.
        deals: at least 2, the same for both.
        worth: as in `worth_of_deals`.
        between: as in `worth_of_deals`.

    Raises:
        ModelError: a table crashed.
    """
    after, before = (worth_of_deals(each, start, deals, worth, between) for each in (policy, start))
    gains = after - before
    return Trial(float(gains.mean()), float(gains.std()) / len(gains) ** 0.5)
