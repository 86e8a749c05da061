"""The price of a kind of error: what errors like it cost on average, as `suzaku eval prices` measured.

A price belongs to a kind; it says nothing about the tiles of one position.
"""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from game.shanten import shanten
from policies.flow.decisions import model_of
from policies.heuristic.danger import Danger
from replays.review.grading import GRAVITY, category_of
from replays.review.judging import Opinion
from replays.review.moments import Moment
from replays.review.schema import Category, Price

Phase: TypeAlias = Literal["early", "late", "threat"]

_TABLE: Final = Path(__file__).with_name("prices.json")
_THREAT: Final = 0.3
"""From this probability of tenpai on, an opponent threatens, as on the page."""
_EARLY: Final = 6
_NEAR, _FAR = 1, 3


class Kind(msgspec.Struct, frozen=True, array_like=True):
    """A kind of disagreement.

    Attributes:
        model: the network that judges it.
        category: of the decision.
        shanten: of the player's hand, 1 for less and 3 for more; None unless it is a discard.
        phase: somebody threatens, or nobody does, early or late in the round; None unless it is a discard.
    """

    model: str
    category: Category
    shanten: int | None = None
    phase: Phase | None = None


KINDS: Final = (
    *itertools.starmap(
        Kind, itertools.product(("discard",), GRAVITY, range(_NEAR, _FAR + 1), get_args(Phase))
    ),
    *itertools.starmap(Kind, itertools.product(("riichi", "chi", "pon", "kan"), GRAVITY)),
)


class KindPrice(msgspec.Struct, frozen=True):
    """The price of a kind.

    Attributes:
        kind: the kind.
        disagreements: how many were played out.
        points: what they cost on average.
        error: half the width of the 95 % interval of that.
        reward: the cost in the expected final reward.
        reward_error: half the width of its interval.
    """

    kind: Kind
    disagreements: int
    points: float
    error: float
    reward: float
    reward_error: float


class PriceTable(msgspec.Struct, frozen=True):
    """Prices of errors by one policy.

    Attributes:
        policy: its name.
        identity: changes when the policy behind the name changes.
        command: the command that measured them.
        commit: its commit.
        kinds: the price of each of `KINDS`.
    """

    policy: str
    identity: str
    command: str
    commit: str
    kinds: tuple[KindPrice, ...]

    def price(self, kind: Kind) -> Price:
        """The price of a kind."""
        found = self.kinds[KINDS.index(kind)]
        return Price(points=found.points, error=found.error)


@cache
def price_table() -> PriceTable:
    """The included table."""
    return msgspec.json.decode(_TABLE.read_bytes(), type=PriceTable)


def kind_of(moment: Moment, opinion: Opinion, danger: Danger) -> Kind | None:
    """The kind of a disagreement; None if rules judge it.

    Args:
        moment: the decision.
        opinion: the policy's view of it.
        danger: of the opponents' hands.
    """
    step, ratio = opinion.parted(moment.done)
    category = category_of(ratio, step)
    if step != "discard":
        model = model_of((moment.done, opinion.preferred))
        return None if model == "rule" else Kind(model, category)
    record, player = moment.record, moment.player
    distance = int(shanten(record["hand34"][player], int(record["meld_count"][player])))
    quiet: Phase = "early" if record["river_size"][player] < _EARLY else "late"
    phase: Phase = "threat" if danger.tenpai.max() >= _THREAT else quiet
    return Kind("discard", category, min(max(distance, _NEAR), _FAR), phase)
