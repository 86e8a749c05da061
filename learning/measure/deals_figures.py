"""The figures of `suzaku eval deals`, with intervals from resampled games.

A decision gives two noisy means: the difference between its two choices in sampled deals, and with the true
hands. The deals of both are drawn independently, so their covariance over decisions is not biased by the
noise. The variance of a mean is: it contains the variance of the deals over their number, which is
subtracted (equivalent to split-half over all splits).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from game.scoring.settlement import RewardKind
from learning.measure.deals_plan import DealsPlan, DecisionDeals, GameDeals, HandErrors, SampledDeals
from learning.runs.statistics import Estimate, Floats, Means
from policies.adaptation.search import SEARCHES, SearchSettings, shrunk

CHOSEN_BY: Final = (16, 35, 70, 140)
"""Numbers of deals to choose by."""


class SamplerChoices(msgspec.Struct, frozen=True):
    """Choices by the deals of one sampler; differences are points, or rank points of the final reward.

    Attributes:
        name: the sampler, and where its play-outs are cut.
        noise: standard deviation of the difference in one deal.
        bias: mean difference less that of the same deals played to the end; 0 if they are not.
        play_ms: CPU milliseconds for both choices in one deal.
        deviation: standard deviation, without noise, of the differences between the two choices.
        correlation: correlation of these with those given by the true hands; None where it is not defined.
        gains: mean gain, with the true hands, of the choice that is better in a number of deals over the
            policy's first choice; by that number.
        searched: the same if the policy's probabilities count as a prior, as in `policies.adaptation.search`.
    """

    name: str
    noise: float
    bias: Estimate
    play_ms: float
    deviation: Estimate
    correlation: Estimate
    gains: dict[str, Estimate]
    searched: dict[str, Estimate]


class ChoiceFigures(msgspec.Struct, frozen=True):
    """Choices by sampled deals.

    Attributes:
        advantage: of the policy's first choice over its second, with the true hands.
        deviation: standard deviation of the true differences with the true hands.
        noise: standard deviation of the difference in one deal.
        bound: the same gains for deals with the true hands, judged in other such deals.
        samplers: figures of each.
    """

    advantage: Estimate
    deviation: Estimate
    noise: float
    bound: dict[str, Estimate]
    samplers: tuple[SamplerChoices, ...]


class SamplerFigures(msgspec.Struct, frozen=True):
    """The hands of one sampler.

    Attributes:
        name: the sampler.
        scores: mean errors of its hands, as in `learning.measure.deals_plan.HandErrors`.
        ms: CPU milliseconds a decision for sampling.
    """

    name: str
    scores: dict[str, Estimate]
    ms: float


class DealsFigures(msgspec.Struct, frozen=True):
    """All figures.

    Attributes:
        games: number of games.
        decisions: number of decisions.
        close: close decisions a game.
        points: choices made and judged by points; None if nothing was played out.
        final: the same by the expected final reward; None if it was not asked for.
        samplers: figures of each.
        seconds: CPU time a decision.
    """

    games: int
    decisions: int
    close: float
    points: ChoiceFigures | None
    final: ChoiceFigures | None
    samplers: tuple[SamplerFigures, ...]
    seconds: float


def figures_of_deals(plan: DealsPlan, games: Sequence[GameDeals]) -> DealsFigures:
    """The figures of some games.

    Args:
        plan: the plan.
        games: one or more, with at least one decision.
    """
    rows = [row for game in games for row in game.decisions]
    owners = [number for number, game in enumerate(games) for _ in game.decisions]
    return DealsFigures(
        games=len(games),
        decisions=len(rows),
        close=float(np.mean([game.close for game in games])),
        points=_choices(plan, rows, "points", owners) if plan.play else None,
        final=_choices(plan, rows, "global", owners) if plan.play and plan.final else None,
        samplers=tuple(
            _sampler(name, [row.samplers[place * len(plan.horizons)] for row in rows], owners)
            for place, name in enumerate(plan.samplers)
        ),
        seconds=float(sum(game.seconds for game in games) / len(rows)),
    )


def _choices(
    plan: DealsPlan, rows: Sequence[DecisionDeals], reward: RewardKind, owners: Sequence[int]
) -> ChoiceFigures:
    by_points, search = reward == "points", SEARCHES[reward]
    true = np.array([row.true if by_points else row.true_final for row in rows], np.float64)
    ratios = np.array([row.chances[1] / row.chances[0] for row in rows])
    moments = _moments(true)

    def sampled_at(place: int) -> Floats:
        found = [row.samplers[place] for row in rows]
        return np.array([each.differences if by_points else each.final for each in found], np.float64)

    def sampler(way: tuple[str, int], place: int) -> SamplerChoices:
        sampled, whole = sampled_at(place), (way[0], 0)
        full = sampled_at(plan.ways.index(whole)) if whole in plan.ways else sampled
        numbers = [number for number in CHOSEN_BY if number <= sampled.shape[1]]
        means = Means(  # the first seven columns are those of `_correlation`
            owners,
            _moments(sampled),
            moments,
            sampled.mean(axis=1) * true.mean(axis=1),
            (sampled - full).mean(axis=1),
            *(_gain(sampled, true, number) for number in numbers),
            *(_gain(sampled, true, number, (ratios, search)) for number in numbers),
        )
        return SamplerChoices(
            f"{way[0]}, {way[1]} discards" if way[1] else way[0],
            float(np.sqrt(sampled.var(axis=1, ddof=1).mean())),
            means[7],
            float(np.mean([row.samplers[place].play_ms for row in rows]) / sampled.shape[1]),
            means.of(_deviation),
            means.of(_correlation),
            {str(number): means[8 + column] for column, number in enumerate(numbers)},
            {str(number): means[8 + len(numbers) + column] for column, number in enumerate(numbers)},
        )

    within = [number for number in CHOSEN_BY if 2 * number <= true.shape[1]]
    means = Means(owners, moments, *(_gain_within(true, number) for number in within))
    return ChoiceFigures(
        advantage=means[0],
        deviation=means.of(_deviation),
        noise=float(np.sqrt(true.var(axis=1, ddof=1).mean())),
        bound={str(number): means[3 + column] for column, number in enumerate(within)},
        samplers=tuple(sampler(way, place) for place, way in enumerate(plan.ways)),
    )


def _sampler(name: str, found: Sequence[SampledDeals], owners: Sequence[int]) -> SamplerFigures:
    traits = HandErrors.__struct_fields__
    means = Means(owners, *([getattr(each.scores, trait) for each in found] for trait in traits))
    return SamplerFigures(
        name=name,
        scores={trait: means[column] for column, trait in enumerate(traits)},
        ms=float(np.mean([each.ms for each in found])),
    )


def _moments(deals: Floats) -> Floats:
    """``[n, 3]``: mean, its square, and the variance of the mean that is noise."""
    mean = deals.mean(axis=1)
    return np.column_stack([mean, mean**2, deals.var(axis=1, ddof=1) / deals.shape[1]])


def _variance(means: Floats) -> Floats:
    """Variance of the true means: that of the noisy ones without the noise."""
    found: Floats = means[..., 1] - means[..., 0] ** 2 - means[..., 2]
    return found


def _deviation(means: Floats) -> Floats:
    return np.sqrt(np.maximum(0.0, _variance(means)))


def _correlation(means: Floats) -> Floats:
    """NaN where the noise leaves no variance."""
    one, other = _variance(means[..., :3]), _variance(means[..., 3:6])
    shared = means[..., 6] - means[..., 0] * means[..., 3]
    product = np.where((one > 0.0) & (other > 0.0), one * other, np.nan)
    found: Floats = shared / np.sqrt(product)
    return found


def _gain(
    sampled: Floats, true: Floats, number: int, prior: tuple[Floats, SearchSettings] | None = None
) -> Floats:
    """``[n]``: mean gain of choosing by ``number`` sampled deals, over all disjoint groups of them.

    Args:
        sampled: ``[n, deals]``, advantages of the first choice over the second.
        true: ``[n, deals]``, the same with the true hands.
        number: deals to choose by.
        prior: ``[n]``, the second choice's probability over the first's, and how a search counts it; None for
            no prior.
    """
    groups = sampled.shape[1] // number
    deals = sampled[:, : groups * number].reshape(len(sampled), groups, number)
    ahead = -deals.mean(axis=2)
    if prior is not None:
        ratios, search = prior
        least = search.deviation / 100.0  # equal deals do not make a choice certain
        errors = np.maximum(deals.std(axis=2, ddof=1), least) / np.sqrt(number)
        each = zip(ahead.flat, errors.flat, np.repeat(ratios, groups), strict=True)
        found_with = [
            shrunk(float(mean), float(error), float(ratio), search)[0] for mean, error, ratio in each
        ]
        ahead = np.array(found_with).reshape(ahead.shape)
    found: Floats = -true.mean(axis=1) * (ahead > 0.0).mean(axis=1)
    return found


def _gain_within(true: Floats, number: int) -> Floats:
    """The same with deals of the true hands, judged by the others."""
    groups = true.shape[1] // number
    parts = true[:, : groups * number].reshape(len(true), groups, number)
    rest = (true.sum(axis=1)[:, None] - parts.sum(axis=2)) / (true.shape[1] - number)
    found: Floats = (-rest * (parts.mean(axis=2) < 0.0)).mean(axis=1)
    return found
