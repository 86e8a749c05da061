"""`suzaku eval prices`: what people's disagreements with the policy cost, by kind.

Both choices are played out to the end of the round by the policy in every seat, with the true hands, over the
same redrawn wall. More disagreements say more than more walls for each.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.warmup import warm_up
from kit.errors import ConfigError, ReplayError
from kit.options import INTERNAL, Count, Seed
from kit.workers.pool import Work
from learning.data.choice import place_in_shares
from learning.data.layout import is_ai, split_of
from learning.data.sources import load, stored_games
from learning.runs.commit import current_commit
from learning.runs.measurement import Measurement
from learning.runs.statistics import Estimate, Floats, Means
from learning.runs.store import ResumablePlan
from policies.checkpoint.store import load_predictor
from policies.deals.deal import RoundView, true_deals
from policies.flow.draws import drawn_bits, drawn_share
from policies.heuristic.danger import danger_of
from policies.nets.compute import IN_PLAY, Compute
from policies.play.included import SHIPPED
from policies.play.named import load_named
from policies.play.playouts import Branching, Playouts, RewardValue, points_value
from policies.play.rollout import PolicyChooser
from policies.reward.encoding import round_starts
from replays.formats import read_game
from replays.review.grading import THRESHOLDS
from replays.review.judging import opinions
from replays.review.moments import follow
from replays.review.prices import KINDS, Kind, KindPrice, PriceTable, kind_of
from replays.review.report import check_player, length_of

Ints: TypeAlias = NDArray[np.int64]

_CLOSE_SHARE: Final = 0.2
"""Share of the disagreements to play out that are no errors: there are many of them."""


class PricesPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        data: paths of the records.
        policy: policy that judges, averaged over 12 permutations as in reviews, and plays: network, phoenix,
            large or a folder of checkpoints.
        identity: changes when the policy behind the name changes.
        games: games to take disagreements from, all outside the training part.
        seed: seed of the disagreements and walls.
        compute: how networks compute.
        format: format of the results.
    """

    data: Annotated[tuple[str, ...], INTERNAL]
    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    games: Count = 1000
    seed: Seed = 0
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = "suzaku-prices/1"


class Disagreement(msgspec.Struct, frozen=True, array_like=True):
    """A disagreement: its kind, and what the player's choice cost in points and expected final reward."""

    kind: Kind
    points: float
    reward: float


class GamePrices(msgspec.Struct, frozen=True):
    """The disagreements of one game.

    Attributes:
        number: the game's.
        decisions: of people; 0 if the game cannot be used.
        disagreements: all of them.
        played: those that were played out.
        seconds: CPU time.
    """

    number: int
    decisions: int
    disagreements: int
    played: tuple[Disagreement, ...]
    seconds: float


def prices_of_games(setup: tuple[PricesPlan, Sequence[str]]) -> Work[int, GamePrices]:
    """Load the policy; return the function that plays the disagreements of a game out, given all records."""
    warm_up()
    plan, records = setup
    judge, player = (load_named(plan.policy, times, compute=plan.compute).policy for times in (12, 1))
    predictor = load_predictor(SHIPPED)

    def price(number: int) -> Iterator[GamePrices]:
        begun = process_time()
        record = read_game(records[number])
        length = length_of(record.game_type)
        decisions, disagreements, branchings, rest = 0, 0, [], []
        for seat in (seat for seat in range(4) if not is_ai(record.names[seat])):
            try:
                check_player(record, seat)
                game = follow(record.events, seat, length)
            except ReplayError:
                continue
            decisions += len(game.moments)
            starts = round_starts(each.start for each in game.rounds)
            for moment, opinion in zip(game.moments, opinions(game.moments, judge), strict=True):
                if opinion.agrees(moment.done):
                    continue
                disagreements += 1
                kind = kind_of(moment, opinion, danger_of(moment.record, seat, reads_melds=True))
                key = plan.seed, number, seat, moment.round, moment.event
                close = opinion.parted(moment.done)[1] >= THRESHOLDS.inaccuracy
                if kind is None or (close and drawn_share(*key) >= _CLOSE_SHARE):
                    continue
                deals = true_deals(RoundView.of(moment), moment.record, 1, drawn_bits(*key))
                branchings.append(Branching(deals, (opinion.preferred, moment.done), (0,)))
                rest.append((kind, RewardValue(predictor, starts[: moment.round + 1])))
        ends = Playouts(PolicyChooser(player), length).ends(branchings)
        played = tuple(
            Disagreement(
                kind, *(round(float(each.ahead(tables, value)[0]), 4) for value in (points_value, reward))
            )
            for each, tables, (kind, reward) in zip(branchings, ends, rest, strict=True)
        )
        yield GamePrices(number, decisions, disagreements, played, round(process_time() - begun, 3))

    return price


def make_plan(data: Sequence[Path], **given: Any) -> PricesPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: the policy does not exist.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = PricesPlan(data=tuple(map(str, data)), identity="", **given)
    return msgspec.structs.replace(plan, identity=load_named(plan.policy, 12).identity)


def _setup(plan: PricesPlan) -> tuple[PricesPlan, list[str]]:
    stored = map(load, stored_games([Path(path) for path in plan.data]))
    others = (game for game in stored if split_of(game.game_id))
    found = heapq.nsmallest(plan.games, others, key=lambda game: place_in_shares(game.game_id.encode()))
    if len(found) < plan.games:
        raise ConfigError(f"--games {plan.games}: the data has {len(found)} games outside the training part")
    return plan, [game.text for game in found]


# --- figures ----------------------------------------------------------------------------------------------

_DEVIATIONS: Final = (10.0, 30.0, 100.0)
"""Standard deviations in points of prices, from which the likeliest are chosen."""
_NOISE: Final = 4_000.0
_NOISE_COUNT: Final = 200.0
"""The standard deviation of one difference, which counts as much as this number of differences."""
_REWARD_POINTS: Final = 170.0
"""Points of one rank point of the final reward: the ratio of the standard deviations of their differences."""
_FOLDS: Final = 5
_NORMAL: Final = 1.96
_ERRORS: Final = np.array([kind.category != "fine" for kind in KINDS])


class PricesFigures(msgspec.Struct, frozen=True):
    """All figures.

    Attributes:
        games: that can be used.
        decisions: of people.
        disagreements: decisions that disagree with the policy.
        played: disagreements played out.
        cost: points that an error costs on average.
        slope: points by which costs in held-out games rise with each point of the table; 1 if it is right.
        slope_reward: the same for the final reward.
        cpu_hours: CPU time.
        table: the prices.
    """

    games: int
    decisions: int
    disagreements: int
    played: int
    cost: Estimate
    slope: Estimate
    slope_reward: Estimate
    cpu_hours: float
    table: PriceTable


def figures_of(plan: PricesPlan, games: Sequence[GamePrices]) -> PricesFigures:
    """The figures of some games.

    Raises:
        ConfigError: nothing was played out.
    """
    rows = [
        (game.number, KINDS.index(each.kind), each.points, each.reward * _REWARD_POINTS)
        for game in games
        for each in game.played
    ]
    if not rows:
        raise ConfigError("nobody disagrees with the policy in these games; give more --games")
    table = np.array(rows)
    owners, kinds = table[:, :2].astype(np.int64).T
    points, reward = table[:, 2:].T
    errors = _ERRORS[kinds]
    columns = (
        np.bincount(kinds, minlength=len(KINDS)),
        *np.round(smoothed(owners, kinds, points)[:2], -1),
        *np.round(smoothed(owners, kinds, reward)[:2] / _REWARD_POINTS, 2),
    )
    data = " ".join(f"--data {Path(path).name}" for path in plan.data)
    return PricesFigures(
        games=sum(game.decisions > 0 for game in games),
        decisions=sum(game.decisions for game in games),
        disagreements=sum(game.disagreements for game in games),
        played=len(rows),
        cost=Means(owners[errors], points[errors])[0],
        slope=_slope(owners, kinds, points),
        slope_reward=_slope(owners, kinds, reward),
        cpu_hours=round(sum(game.seconds for game in games) / 3600.0, 2),
        table=PriceTable(
            plan.policy,
            plan.identity,
            f"suzaku eval prices {data} --games {len(games)} --seed {plan.seed}",
            current_commit(),
            tuple(KindPrice(*row) for row in zip(KINDS, *(each.tolist() for each in columns), strict=True)),
        ),
    )


def smoothed(owners: Ints, kinds: Ints, costs: Floats) -> Floats:
    """``[3, K]``: the prices of `KINDS`, half the widths of their 95 % intervals, and the noise of one cost.

    Few differences say little, so a price is drawn towards those of kinds with the same traits: it is the
    posterior mean under the normal prior that makes the costs likeliest.

    Args:
        owners: ``[N]`` the game of each disagreement.
        kinds: ``[N]`` its place in `KINDS`.
        costs: ``[N]`` its cost.
    """
    counts, sums = np.zeros((2, owners.max(initial=0) + 1, len(KINDS)))
    np.add.at(counts, (owners, kinds), 1.0)
    np.add.at(sums, (owners, kinds), costs)
    # costs of one game depend on each other, so the noise is that of their sums
    squares = np.square(sums - counts * sums.sum() / max(1, len(costs))).sum(axis=0)
    number = counts.sum(axis=0)
    noise = (squares + _NOISE_COUNT * _NOISE**2) / (number + _NOISE_COUNT)
    known = number > 0
    means, variances = sums.sum(axis=0)[known] / number[known], np.diag(noise[known] / number[known])

    def unlikelihood(prior: Floats) -> float:
        covariance = prior[np.ix_(known, known)] + variances
        return float(means @ np.linalg.solve(covariance, means) + np.linalg.slogdet(covariance)[1])

    prior = min((_prior(*each) for each in itertools.product(_DEVIATIONS, repeat=5)), key=unlikelihood)
    covariance = np.linalg.inv(np.linalg.inv(prior) + np.diag(number / noise))
    return np.array([covariance @ (sums.sum(axis=0) / noise), _NORMAL * np.sqrt(np.diag(covariance)), noise])


def _prior(common: float, category: float, model: float, place: float, own: float) -> Floats:
    """``[K, K]`` covariance of prices, by what all, those with a trait, and no others have in common."""
    prior = common**2 + own**2 * np.eye(len(KINDS))
    shares = {"category": category, "model": model, "shanten": place, "phase": place}
    for trait, deviation in shares.items():
        values = np.array([getattr(kind, trait) for kind in KINDS])
        prior += deviation**2 * ((values[:, None] == values) & (values != None))  # noqa: E711 - by element
    return prior


def _slope(owners: Ints, kinds: Ints, costs: Floats) -> Estimate:
    """The slope of costs on prices: each fifth of the games is held out in turn, and priced by the others.

    Kinds count by the inverse of their noise.
    """
    priced, noise = np.empty((2, len(costs)))
    for fold in range(_FOLDS):
        held = owners % _FOLDS == fold
        found = smoothed(owners[~held], kinds[~held], costs[~held])
        priced[held], noise[held] = found[0][kinds[held]], found[2][kinds[held]]
    columns = (np.ones(len(costs)), priced, costs, priced**2, priced * costs)
    return Means(owners, *(column / noise for column in columns)).of(_slope_of)


def _slope_of(means: Floats) -> Floats:
    weight, priced, cost, square, product = np.moveaxis(means, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope: Floats = (weight * product - priced * cost) / (weight * square - priced**2)
    return slope


PRICES: Final = Measurement("prices", PricesPlan, GamePrices, figures_of, _setup, prices_of_games)
"""The plan of `suzaku eval prices`, and the row of a game."""
