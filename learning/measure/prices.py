"""`suzaku eval prices`: what people's disagreements with the policy cost, by kind.

Both choices are played out to the end of the round by the policy in every seat, with the true hands, over the
same redrawn wall. More disagreements say more than more walls for each.
"""

from __future__ import annotations

import heapq
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

_COMMON, _TRAIT, _OWN = 200.0, 150.0, 100.0
"""Standard deviations in points, set beforehand: what all prices have in common, what those with a trait have
in common, and what is a kind's own."""
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
        slope: points that errors of held-out games cost for each point by the table; 1 if the table is right.
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
        *np.round(smoothed(owners, kinds, points), -1),
        *np.round(smoothed(owners, kinds, reward) / _REWARD_POINTS, 2),
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
    """``[2, K]``: the prices of `KINDS`, and half the widths of their 95 % intervals.

    Few differences say little, so a price is drawn towards those of kinds with the same traits: it is the
    posterior mean under a normal prior.

    Args:
        owners: ``[N]`` the game of each disagreement.
        kinds: ``[N]`` its place in `KINDS`.
        costs: ``[N]`` its cost.
    """
    traits = [msgspec.structs.astuple(kind) for kind in KINDS]
    shared = [
        [sum(a == b and a is not None for a, b in zip(one, other, strict=True)) for other in traits]
        for one in traits
    ]
    prior = _COMMON**2 + _TRAIT**2 * np.array(shared) + _OWN**2 * np.eye(len(KINDS))
    counts, sums = np.zeros((2, owners.max(initial=0) + 1, len(KINDS)))
    np.add.at(counts, (owners, kinds), 1.0)
    np.add.at(sums, (owners, kinds), costs)
    # costs of one game depend on each other, so the noise is that of their sums
    squares = np.square(sums - counts * sums.sum() / max(1, len(costs))).sum(axis=0)
    number = counts.sum(axis=0)
    noise = (squares + _NOISE_COUNT * _NOISE**2) / (number + _NOISE_COUNT)
    covariance = np.linalg.inv(np.linalg.inv(prior) + np.diag(number / noise))
    return np.array([covariance @ (sums.sum(axis=0) / noise), _NORMAL * np.sqrt(np.diag(covariance))])


def _slope(owners: Ints, kinds: Ints, costs: Floats) -> Estimate:
    """The slope of costs on prices: each fifth of the games is held out in turn, and priced by the others."""
    priced = np.empty(len(costs))
    for fold in range(_FOLDS):
        held = owners % _FOLDS == fold
        priced[held] = smoothed(owners[~held], kinds[~held], costs[~held])[0][kinds[held]]
    shown = _ERRORS[kinds]
    owners, priced, costs = owners[shown], priced[shown], costs[shown]
    return Means(owners, priced, costs, priced**2, priced * costs).of(_slope_of)


def _slope_of(means: Floats) -> Floats:
    priced, cost, square, product = np.moveaxis(means, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope: Floats = (product - priced * cost) / (square - priced**2)
    return slope


PRICES: Final = Measurement("prices", PricesPlan, GamePrices, figures_of, _setup, prices_of_games)
"""The plan of `suzaku eval prices`, and the row of a game."""
