"""The price of a kind of error: what choices like it cost on average, as `suzaku eval prices` measured.

A price belongs to a kind, never to one position: it says nothing about the tiles of this decision.
"""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from game.actions import ActionKind
from game.shanten import shanten
from policies.flow.decisions import Step
from policies.heuristic.danger import Danger
from replays.review.grading import GRAVITY, category_of
from replays.review.judging import Opinion
from replays.review.moments import Moment
from replays.review.schema import Category, Price

Model: TypeAlias = Literal["discard", "riichi", "chi", "pon", "kan"]
Phase: TypeAlias = Literal["early", "late", "threat"]
"""Somebody threatens, or nobody does, early or late in the round."""

_TABLE: Final = Path(__file__).with_name("prices.json")
_CALLS: Final[dict[ActionKind, Model]] = {
    ActionKind.CHI: "chi",
    ActionKind.PON: "pon",
    ActionKind.DAIMINKAN: "kan",
}
_STEPS: Final[dict[Step, Model]] = {"discard": "discard", "riichi": "riichi", "kan": "kan"}
_THREAT: Final = 0.3
"""From this probability of tenpai on, an opponent threatens, as on the page."""
_EARLY: Final = 6
_FAR: Final = 3


class Situation(msgspec.Struct, frozen=True, array_like=True):
    """What the kind of a disagreement depends on.

    Attributes:
        model: the network that judges it.
        acted: whether the player declared or called, and the policy would not.
        ratio: probability of the action done divided by that of the preferred one.
        shanten: of the player's hand.
        tenpai: probability of tenpai of the opponent who is most likely so, by rule; 1 in riichi.
        turn: number of the player's discard.
    """

    model: Model
    acted: bool
    ratio: float
    shanten: int
    tenpai: float
    turn: int

    @property
    def kind(self) -> Kind:
        """Its kind."""
        if self.model != "discard":
            return Kind(self.model, self.acted and self.model != "kan")
        quiet: Phase = "early" if self.turn <= _EARLY else "late"
        return Kind(
            "discard",
            False,
            category_of(self.ratio, "discard"),
            min(max(self.shanten, 0), _FAR),
            "threat" if self.tenpai >= _THREAT else quiet,
        )


def situation_of(moment: Moment, opinion: Opinion, danger: Danger) -> Situation | None:
    """The situation of a disagreement; None if rules judge it.

    Args:
        moment: the decision.
        opinion: the policy's view of it.
        danger: of the opponents' hands.
    """
    step, ratio = opinion.parted(moment.done)
    preferred, done = opinion.preferred.kind, moment.done.kind
    model = _STEPS.get(step) or _CALLS.get(preferred) or _CALLS.get(done)
    if model is None or step in ("win", "nine_terminals"):
        return None
    record, player = moment.record, moment.player
    return Situation(
        model=model,
        acted=step != "discard" and preferred in (ActionKind.DISCARD, ActionKind.PASS),
        ratio=round(ratio, 6),
        shanten=int(shanten(record["hand34"][player], int(record["meld_count"][player]))),
        tenpai=round(float(danger.tenpai.max()), 4),
        turn=int(record["river_size"][player]) + 1,
    )


class Kind(msgspec.Struct, frozen=True):
    """A kind of disagreement; only discards are divided further.

    Attributes:
        model: the network that judges it.
        acted: whether the player declared or called, and the policy would not; False for all kans.
        category: of the decision.
        shanten: of the player's hand, 3 for more.
        phase: whether somebody threatens, and when.
    """

    model: Model
    acted: bool = False
    category: Category | None = None
    shanten: int | None = None
    phase: Phase | None = None


KINDS: Final = (
    *(Kind("discard", False, *rest) for rest in itertools.product(GRAVITY, range(_FAR + 1), get_args(Phase))),
    *(Kind(model, acted) for model in get_args(Model)[1:-1] for acted in (False, True)),
    Kind("kan"),
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
    """The prices that come with the program.

    Attributes:
        policy: the policy they were measured with, by name.
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

    def price(self, situation: Situation) -> Price:
        """The price of a situation's kind."""
        found = next(each for each in self.kinds if each.kind == situation.kind)
        return Price(points=found.points, error=found.error)


@cache
def price_table() -> PriceTable:
    """The included table."""
    return msgspec.json.decode(_TABLE.read_bytes(), type=PriceTable)
