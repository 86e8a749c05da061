"""The grade of a decision by stated thresholds, and the sums of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from policies.flow.decisions import Step
from replays.review.judging import ORDER
from replays.review.schema import Categories, Category, Judged, Rates, ReviewDecision, StepFigures, Thresholds
from replays.tally import PlayerTally

THRESHOLDS: Final = Thresholds(inaccuracy=0.07, mistake=0.015, blunder=0.0006)
RATING: Final = (
    "mean ratio, in per cent, of the policy's probability of the played option to that of its own choice, at "
    "the step where they differ; agreement counts 100"
)
GRAVITY: Final[tuple[Category, ...]] = ("fine", "inaccuracy", "mistake", "blunder")
_BAD: Final[tuple[Category, ...]] = ("mistake", "blunder")


def category_of(ratio: float, step: Step) -> Category:
    """The category of a decision that is not what the policy prefers.

    Args:
        ratio: ratio of the probabilities.
        step: the step at which the two differ; nine terminals are never worse than an inaccuracy.
    """
    if step == "nine_terminals":
        return "inaccuracy"
    below = (THRESHOLDS.inaccuracy, THRESHOLDS.mistake, THRESHOLDS.blunder)
    return GRAVITY[sum(ratio < limit for limit in below)]


def figures(decisions: Iterable[ReviewDecision]) -> Judged:
    """The figures of some decisions."""
    counts: dict[Category, int] = dict.fromkeys(GRAVITY, 0)
    agreed = 0
    ratios = 0.0
    prices = []
    for decision in decisions:
        counts[decision.category] += 1
        agreed += decision.agrees
        ratios += decision.ratio
        if decision.category != "fine":
            prices.append(decision.price.points if decision.price else None)
    return _judged(counts, agreed, 100.0 * ratios, prices)


def together(parts: Sequence[Judged]) -> Judged:
    """The combined figures of several games."""
    counts = {name: sum(getattr(part.categories, name) for part in parts) for name in GRAVITY}
    rated = sum((part.rating or 0.0) * part.decisions for part in parts)
    prices = [part.price for part in parts if part.categories.fine < part.decisions]
    return _judged(counts, sum(part.agreed for part in parts), rated, prices)


def _judged(counts: dict[Category, int], agreed: int, rated: float, prices: Sequence[float | None]) -> Judged:
    number = sum(counts.values())
    bad = sum(counts[name] for name in _BAD)
    known = [price for price in prices if price is not None]
    return Judged(
        decisions=number,
        agreed=agreed,
        agreement=_share(agreed, number),
        bad_moves=bad,
        bad_move_rate=_share(bad, number),
        rating=_share(rated, number, 2),
        categories=Categories(**counts),
        price=round(sum(known), 1) if known or not prices else None,
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
    """Numbers of the decisions that are not fine: by price, by category, then by ratio."""
    numbers = [number for number, decision in enumerate(decisions) if decision.category != "fine"]
    return tuple(sorted(numbers, key=lambda number: gravity(decisions[number])))


def gravity(decision: ReviewDecision) -> tuple[float, float, float]:
    """What errors are sorted by, the worst first."""
    price = decision.price.points if decision.price else 0.0
    return -price, -GRAVITY.index(decision.category), decision.ratio


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
