"""The price of a kind of error: what errors like it cost on average, as `suzaku eval prices` measured."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import msgspec

from game.actions import Action, ActionKind
from game.shanten import shanten
from policies.flow.decisions import Step
from policies.heuristic.danger import Danger
from replays.review.judging import Opinion
from replays.review.moments import Moment

Model: TypeAlias = Literal["discard", "riichi", "chi", "pon", "kan"]
MODELS: Final[tuple[Model, ...]] = get_args(Model)

_CALLS: Final[dict[ActionKind, Model]] = {
    ActionKind.CHI: "chi",
    ActionKind.PON: "pon",
    ActionKind.DAIMINKAN: "kan",
}
_STEPS: Final[dict[Step, Model]] = {"discard": "discard", "riichi": "riichi", "kan": "kan"}


class Situation(msgspec.Struct, frozen=True, array_like=True):
    """What the kind of a disagreement depends on.

    Attributes:
        model: the network that judges it.
        acted: whether the player called or declared what the policy would not.
        ratio: probability of the action done divided by that of the preferred one.
        shanten: of the player's hand.
        tenpai: probability of tenpai of the opponent who is most likely so, by rule; 1 in riichi.
        turn: number of the player's discard.
        risk: points that the action done is expected to deal in, by rule, less those of the preferred one.
    """

    model: Model
    acted: bool
    ratio: float
    shanten: int
    tenpai: float
    turn: int
    risk: float


def situation_of(moment: Moment, opinion: Opinion, danger: Danger) -> Situation | None:
    """The situation of a decision; None if it agrees with the policy, or if rules judge it.

    Args:
        moment: the decision.
        opinion: the policy's view of it.
        danger: of the opponents' hands.
    """
    step, ratio = opinion.parted(moment.done)
    model = _model(step, moment.done, opinion.preferred)
    if opinion.agrees(moment.done) or model is None:
        return None
    record, player = moment.record, moment.player
    return Situation(
        model=model,
        acted=step != "discard" and opinion.preferred.kind in (ActionKind.DISCARD, ActionKind.PASS),
        ratio=round(ratio, 6),
        shanten=int(shanten(record["hand34"][player], int(record["meld_count"][player]))),
        tenpai=round(float(danger.tenpai.max()), 4),
        turn=int(record["river_size"][player]) + 1,
        risk=round(_risk(moment.done, danger) - _risk(opinion.preferred, danger), 1),
    )


def _risk(action: Action, danger: Danger) -> float:
    if action.kind not in (ActionKind.DISCARD, ActionKind.RIICHI):
        return 0.0
    return float(danger.deal_in[:, action.tile >> 2] @ danger.points)


def _model(step: Step, done: Action, preferred: Action) -> Model | None:
    if step == "call":
        return _CALLS.get(preferred.kind) or _CALLS.get(done.kind)
    return _STEPS.get(step)
