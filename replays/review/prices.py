"""The price of an error: what errors like it cost on average, as `suzaku eval prices` measured.

A price depends on how unlikely the policy finds the choice and on the distance of the hand to a win. It says
nothing about the tiles of one position.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from game.shanten import shanten
from policies.flow.decisions import model_of
from replays.review.judging import Opinion
from replays.review.moments import Moment
from replays.review.schema import Price

_FITTED: Final = Path(__file__).with_name("prices.json")
_LEAST: Final = 1e-4
"""Choices that are less likely cost no more."""
_NEAR, _FAR = 1, 3
_NORMAL: Final = 1.96


class Unlikeness(msgspec.Struct, frozen=True, array_like=True):
    """What the price of a disagreement depends on.

    Attributes:
        ratio: probability of the choice divided by that of the preferred one.
        shanten: of the player's hand.
    """

    ratio: float
    shanten: int


class Prices(msgspec.Struct, frozen=True):
    """Prices of disagreements with one policy: a linear function of `terms_of`.

    Attributes:
        policy: its name.
        identity: changes when the policy behind the name changes.
        command: the command that measured them.
        commit: its commit.
        points: ``[3]`` the coefficients, in points.
        covariance: ``[3, 3]`` of their errors.
    """

    policy: str
    identity: str
    command: str
    commit: str
    points: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def price(self, of: Unlikeness) -> Price:
        """The price of a disagreement, to ten points."""
        terms = terms_of(of.ratio, of.shanten)
        deviation = math.sqrt(terms @ np.array(self.covariance) @ terms)
        return Price(points=round(float(terms @ self.points), -1), error=round(_NORMAL * deviation, -1))


def terms_of(ratio: ArrayLike, distance: ArrayLike) -> NDArray[np.float64]:
    """``[..., 3]``: minus the logarithm of the ratio; the same if far from tenpai, else 0; if near to it."""
    unlikely, distance = -np.log(np.maximum(ratio, _LEAST)), np.asarray(distance)
    return np.stack([unlikely, unlikely * (distance >= _FAR), unlikely * (distance <= _NEAR)], axis=-1)


@cache
def included_prices() -> Prices:
    """The included prices."""
    return msgspec.json.decode(_FITTED.read_bytes(), type=Prices)


def unlikeness_of(moment: Moment, opinion: Opinion) -> Unlikeness | None:
    """What the price of a disagreement depends on; None if rules judge it.

    Args:
        moment: the decision.
        opinion: the policy's view of it.
    """
    step, ratio = opinion.parted(moment.done)
    if step != "discard" and model_of((moment.done, opinion.preferred)) == "rule":
        return None
    record, player = moment.record, moment.player
    distance = shanten(record["hand34"][player], int(record["meld_count"][player]))
    return Unlikeness(round(ratio, 6), int(distance))
