"""The loss of a decision, its grade by stated thresholds, and the sums of many.

A loss counts only what rollouts confirm. In rounds played out from recorded decisions, the difference between
the rules' values of two hands is confirmed in full if only one of them is tenpai, nearly so between riichi
and no riichi, by half between other hands of different shanten, and not at all between hands of the same
shanten. The rest is the error. `suzaku eval loss` of bdca3e4a measured both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from game.actions import Action, ActionKind
from policies.flow.decisions import Step
from replays.review.judging import ORDER
from replays.review.schema import (
    Categories,
    Category,
    Judged,
    Rates,
    ReviewDecision,
    StepFigures,
    Thresholds,
)
from replays.review.worth import Worth
from replays.tally import PlayerTally

Kind: TypeAlias = Literal["same_shanten", "other_shanten", "tenpai", "riichi", "win"]
"""Kinds of choices: between discards that leave the same shanten, different shanten, or only one of them
tenpai; about riichi; about a win."""

SHARE: Final[Mapping[Kind, float]] = {
    "same_shanten": 0.0,
    "other_shanten": 0.5,
    "tenpai": 1.0,
    "riichi": 0.9,
    "win": 1.0,
}
"""Share of the difference between two hands' values that rollouts confirm."""
SPREAD: Final[Mapping[Kind, float]] = {
    "same_shanten": 3.0,
    "other_shanten": 3.0,
    "tenpai": 7.0,
    "riichi": 7.0,
    "win": 7.0,
}
"""Standard deviation of the remaining error, in rank points."""
RISK_ERROR: Final = 0.3
"""Standard error of a tile's risk of dealing in, as a share of it."""
CLEAR: Final = 1.3
"""Number of standard errors from 0 at which a loss has the right sign nine times out of ten."""


class Loss(NamedTuple):
    """Reward lost against the preferred option, with its standard error."""

    value: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether the loss clearly differs from 0."""
        return abs(self.value) >= CLEAR * self.error > 0.0


def losses(worth: Mapping[Action, Worth], preferred: Action) -> dict[Action, Loss]:
    """The loss of each option; empty if the preferred one has no value.

    Args:
        worth: values of the options.
        preferred: one of the legal actions.
    """
    if preferred not in worth:
        return {}
    best = worth[preferred]
    return {
        option: loss_of(best, value, kind_of(worth, preferred, option))
        if option != preferred
        else Loss(0.0, 0.0)
        for option, value in worth.items()
    }


def loss_of(preferred: Worth, option: Worth, kind: Kind) -> Loss:
    """The loss of an option compared with the preferred one.

    Args:
        preferred: value of the preferred option.
        option: value of the option.
        kind: kind of choice between the two.
    """
    onward = preferred.onward - option.onward
    value = preferred.certain - option.certain + option.risk - preferred.risk + SHARE[kind] * onward
    return Loss(value, math.hypot(SPREAD[kind], RISK_ERROR * preferred.risk, RISK_ERROR * option.risk))


def kind_of(worth: Mapping[Action, Worth], preferred: Action, option: Action) -> Kind:
    """The kind of choice between two options that have values."""
    if (preferred.kind is ActionKind.RIICHI) != (option.kind is ActionKind.RIICHI):
        return "riichi"
    one, other = worth[preferred].shanten, worth[option].shanten
    if one is None or other is None:
        return "win"
    if one == other:
        return "same_shanten"
    return "other_shanten" if one and other else "tenpai"


THRESHOLDS: Final = Thresholds(
    inaccuracy=0.15, mistake=0.05, blunder=0.005, softened=0.0, hardened=5.0, clear=CLEAR
)
RATING: Final = (
    "100 times the mean over all decisions of p(done) / p(preferred), the policy's probabilities at the step "
    "where the two part; a decision like the policy's counts 1"
)
GRAVITY: Final[tuple[Category, ...]] = ("fine", "inaccuracy", "mistake", "blunder")
_BAD: Final = ("mistake", "blunder")


def category_of(ratio: float, loss: Loss | None, step: Step, limits: Thresholds = THRESHOLDS) -> Category:
    """The category of a decision that is not what the policy prefers.

    Args:
        ratio: ratio of the probabilities.
        loss: reward that the decision costs, None if unknown; counts only if it is clear.
        step: the step at which the two differ; nine terminals are never worse than an inaccuracy.
        limits: the thresholds.
    """
    if step == "nine_terminals":
        return "inaccuracy"
    below = (limits.inaccuracy, limits.mistake, limits.blunder)
    grade = sum(ratio < limit for limit in below)
    if loss is not None and loss.clear:
        if loss.value <= limits.softened:
            grade = max(0, grade - 1)
        elif loss.value >= limits.hardened and grade == 1:
            grade = 2
    return GRAVITY[grade]


def figures(decisions: Iterable[ReviewDecision]) -> Judged:
    """The figures of some decisions."""
    counts: dict[Category, int] = dict.fromkeys(GRAVITY, 0)
    agreed = valued = 0
    ratios = loss = variance = 0.0
    for decision in decisions:
        counts[decision.category] += 1
        agreed += decision.agrees
        ratios += decision.ratio
        if decision.loss is not None:
            valued += 1
            loss += decision.loss
            variance += (decision.loss_error or 0.0) ** 2
    number = sum(counts.values())
    bad = sum(counts[name] for name in _BAD)
    return Judged(
        decisions=number,
        agreed=agreed,
        agreement=_share(agreed, number),
        bad_moves=bad,
        bad_move_rate=_share(bad, number),
        rating=round(100.0 * ratios / number, 2) if number else None,
        loss=round(loss, 2),
        loss_error=round(math.sqrt(variance), 2),
        valued=valued,
        categories=Categories(**counts),
    )


def together(parts: Sequence[Judged]) -> Judged:
    """The combined figures of several games."""
    number = sum(part.decisions for part in parts)
    agreed = sum(part.agreed for part in parts)
    bad = sum(part.bad_moves for part in parts)
    rated = sum((part.rating or 0.0) * part.decisions for part in parts)
    return Judged(
        decisions=number,
        agreed=agreed,
        agreement=_share(agreed, number),
        bad_moves=bad,
        bad_move_rate=_share(bad, number),
        rating=round(rated / number, 2) if number else None,
        loss=round(sum(part.loss for part in parts), 2),
        loss_error=round(math.hypot(*(part.loss_error for part in parts)), 2),
        valued=sum(part.valued for part in parts),
        categories=Categories(
            **{name: sum(getattr(part.categories, name) for part in parts) for name in GRAVITY}
        ),
    )


def by_step(decisions: Sequence[ReviewDecision]) -> tuple[StepFigures, ...]:
    """The figures of each step at which decisions are judged."""
    rows = []
    for step in ORDER:
        of_step = [decision for decision in decisions if decision.judged == step]
        if of_step:
            rows.append(StepFigures(step=step, **fields(figures(of_step))))
    return tuple(rows)


def fields(judged: Judged) -> dict[str, Any]:
    """The figures by name, for a row with more fields."""
    return {name: getattr(judged, name) for name in Judged.__struct_fields__}


def worst(decisions: Sequence[ReviewDecision]) -> tuple[int, ...]:
    """Numbers of the decisions that are not fine: by category, then by clear loss, then by ratio."""
    numbers = [number for number, decision in enumerate(decisions) if decision.category != "fine"]

    def gravity(number: int) -> tuple[float, float, float]:
        decision = decisions[number]
        lost = Loss(decision.loss or 0.0, decision.loss_error or 0.0)
        return -GRAVITY.index(decision.category), -lost.value if lost.clear else 0.0, decision.ratio

    return tuple(sorted(numbers, key=gravity))


def rates_of(tally: PlayerTally, rounds: int) -> Rates:
    """A player's statistics from the counts."""
    return Rates(
        rounds=rounds,
        win=_share(tally.wins, rounds),
        tsumo=_share(tally.tsumo, tally.wins),
        deal_in=_share(tally.deal_ins, rounds),
        riichi=_share(tally.riichi, rounds),
        call=_share(tally.calls, rounds),
        draw=_share(tally.draws, rounds),
        tenpai_at_draw=_share(tally.tenpai_draws, tally.draws),
        average_win=_share(tally.won_points, tally.wins, 0),
        average_deal_in=_share(tally.lost_points, tally.deal_ins, 0),
    )


def added(tallies: Sequence[PlayerTally]) -> PlayerTally:
    """Several players' statistics combined."""
    names = PlayerTally.__struct_fields__
    return PlayerTally(**{name: sum(getattr(tally, name) for tally in tallies) for name in names})


def _share(part: float, whole: int, digits: int = 4) -> float | None:
    return round(part / whole, digits) if whole else None
