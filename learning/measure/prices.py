"""`suzaku eval prices`: what people's disagreements with the policy cost, played out with the true hands.

Both choices are played out to the end of the round by the policy in every seat, over the same redrawn walls.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from game.warmup import warm_up
from kit.errors import ConfigError, ReplayError
from kit.options import INTERNAL, Count, Seed
from kit.workers.pool import Work
from learning.data.choice import place_in_shares
from learning.data.layout import is_ai, split_of
from learning.data.sources import RecordText, load, stored_games
from learning.runs.commit import current_commit
from learning.runs.measurement import Measurement
from learning.runs.statistics import Estimate, Floats, Statistic, estimate, ratio, resample
from learning.runs.store import ResumablePlan
from policies.checkpoint import load_predictor
from policies.checkpoint.files import reader_of
from policies.deals.deal import RoundView, true_deals
from policies.flow.draws import drawn_bits, drawn_share
from policies.heuristic.danger import danger_of
from policies.nets.compute import IN_PLAY, Compute
from policies.play.named import Files, files_of_named, load_named, predictor_files
from policies.play.playouts import Branching, Playouts, RewardWorth, points_worth, values_of
from policies.play.rollout import PolicyChooser
from policies.reward import round_starts
from replays.formats import read_game
from replays.review.grading import THRESHOLDS
from replays.review.judging import opinions
from replays.review.moments import Moment, follow
from replays.review.prices import KINDS, Kind, KindPrice, PriceTable, Situation, situation_of
from replays.review.report import check_player, length_of

FORMAT: Final = "suzaku-prices/1"
TOGETHER: Final = 4
"""Games whose disagreements are played out side by side."""
_CLOSE_SHARE: Final = 0.2
"""Share of the disagreements that are no errors to play out: they are many, and cost little."""
_TRAINING: Final = 0


class PricesPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        data: paths of the records.
        policy: policy that judges, averaged over 12 permutations as in reviews, and plays: network, phoenix,
            large or a folder of checkpoints.
        identity: changes when the policy behind the name changes.
        games: games to take disagreements from, all outside the training part.
        walls: walls over which a disagreement is played out.
        seed: seed of the games, disagreements and walls.
        compute: how networks compute.
        format: format of the results.
    """

    data: Annotated[tuple[str, ...], INTERNAL]
    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    games: Count = 1000
    walls: Annotated[int, Meta(ge=1)] = 1
    seed: Seed = 0
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = FORMAT


class Disagreement(msgspec.Struct, frozen=True, array_like=True):
    """One disagreement that was played out.

    Attributes:
        situation: what its kind depends on.
        points: what the player's choice costs: the mean difference over the walls.
        reward: the same in the expected final reward.
    """

    situation: Situation
    points: float
    reward: float


class GamePrices(msgspec.Struct, frozen=True):
    """The disagreements of one game.

    Attributes:
        number: the game's.
        type: Tenhou's type bits.
        decisions: of people; 0 if the game cannot be used.
        disagreements: all of them.
        played: those that were played out.
        seconds: CPU time, its share of the games played together.
    """

    number: int
    type: int
    decisions: int
    disagreements: int
    played: tuple[Disagreement, ...]
    seconds: float


class PricesSetup(msgspec.Struct, frozen=True):
    """Setup of a worker: the plan, the records, and the files of the policy and its reward predictor."""

    plan: PricesPlan
    records: tuple[RecordText, ...]
    files: Files | None
    predictor: Files


class _Found(NamedTuple):
    """A disagreement to play out, with the starts of the rounds up to its own."""

    number: int
    moment: Moment
    situation: Situation
    branching: Branching
    starts: np.ndarray[Any, np.dtype[np.void]]


def prices_of_games(setup: PricesSetup) -> Work[Sequence[int], GamePrices]:
    """Load everything; return the function that plays the disagreements of some games out."""
    warm_up()
    plan = setup.plan
    judge, player = (
        load_named(plan.policy, averaging, setup.files, plan.compute).policy for averaging in (12, 1)
    )
    predictor = load_predictor(Path(), reader_of(setup.predictor))

    def found_in(number: int) -> tuple[GamePrices, list[_Found]]:
        record = read_game(setup.records[number].text)
        length, decisions, disagreements, found = length_of(record.game_type), 0, 0, []
        try:
            people = [seat for seat in range(4) if not is_ai(record.names[seat])]
            for seat in people:
                check_player(record, seat)
            followed = [follow(record.events, seat, length) for seat in people]
        except ReplayError:
            followed = []
        for game in followed:
            decisions += len(game.moments)
            starts = round_starts(each.start for each in game.rounds)
            for moment, opinion in zip(game.moments, opinions(game.moments, judge), strict=True):
                danger = danger_of(moment.record, moment.player, reads_melds=True)
                situation = situation_of(moment, opinion, danger)
                disagreements += situation is not None
                key = plan.seed, number, moment.player, moment.round, moment.event
                if situation is None or (
                    situation.ratio >= THRESHOLDS.inaccuracy and drawn_share(*key) >= _CLOSE_SHARE
                ):
                    continue
                view = RoundView.of(moment)
                deals = true_deals(view, moment.record, plan.walls, drawn_bits(*key))
                branching = Branching(deals, (opinion.preferred, moment.done), range(plan.walls))
                found.append(_Found(number, moment, situation, branching, starts[: moment.round + 1]))
        return GamePrices(number, record.game_type, decisions, disagreements, (), 0.0), found

    def played(found: Sequence[_Found]) -> Iterator[tuple[int, Disagreement]]:
        playouts = Playouts(PolicyChooser(player), found[0].moment.length)
        ends = playouts.ends([each.branching for each in found])
        by_round = groupby(
            zip(found, ends, strict=True),
            key=lambda each: (each[0].number, each[0].moment.player, each[0].moment.round),
        )
        for (number, _, _), group in by_round:
            those, tables = zip(*group, strict=True)
            branchings = [each.branching for each in those]
            worths = points_worth, RewardWorth(predictor, those[0].starts)
            points, reward = (values_of(branchings, tables, worth) for worth in worths)
            for each, one, other in zip(those, points, reward, strict=True):
                costs = [float((values[:, 0] - values[:, 1]).mean()) for values in (one, other)]
                yield number, Disagreement(each.situation, round(costs[0], 1), round(costs[1], 4))

    def price(numbers: Sequence[int]) -> Iterator[GamePrices]:
        begun = process_time()
        rows, found = zip(*map(found_in, numbers), strict=True)
        costs: dict[int, list[Disagreement]] = {number: [] for number in numbers}
        for _, same in groupby(
            sorted((each for game in found for each in game), key=lambda each: each.moment.length),
            key=lambda each: each.moment.length,
        ):
            for number, cost in played(list(same)):
                costs[number].append(cost)
        share = round((process_time() - begun) / len(numbers), 3)
        for row in rows:
            yield msgspec.structs.replace(row, played=tuple(costs[row.number]), seconds=share)

    return price


def make_plan(data: Sequence[Path], **given: Any) -> PricesPlan:
    """The plan with the fields that were given.

    Raises:
        ConfigError: the policy does not exist.
        CheckpointError: the policy's checkpoints cannot be used.
    """
    plan = PricesPlan(data=tuple(map(str, data)), identity="", **given)
    return msgspec.structs.replace(plan, identity=load_named(plan.policy, 12).identity)


def _setup(plan: PricesPlan) -> PricesSetup:
    records = _drawn_games(plan)
    return PricesSetup(plan, records, files_of_named(plan.policy), predictor_files(plan.policy))


def _drawn_games(plan: PricesPlan) -> tuple[RecordText, ...]:
    """The games, drawn by their ids, so that more of them begin with the same ones.

    Raises:
        ConfigError: there are too few.
        ReplayError: a record cannot be read.
    """
    stored = map(load, stored_games([Path(path) for path in plan.data]))
    others = (game for game in stored if split_of(game.game_id) != _TRAINING)
    found = heapq.nsmallest(plan.games, others, key=lambda game: place_in_shares(game.game_id.encode()))
    if len(found) < plan.games:
        raise ConfigError(f"--games {plan.games}: the data has {len(found)} games outside the training part")
    return tuple(found)


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
        games: games with disagreements.
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
    used = [game for game in games if game.played]
    if not used:
        raise ConfigError("nobody disagrees with the policy in these games; give more --games")
    counts, points, reward = (np.zeros((len(used), len(KINDS))) for _ in range(3))
    for row, game in enumerate(used):
        for each in game.played:
            kind = KINDS.index(each.situation.kind)
            counts[row, kind] += 1.0
            points[row, kind] += each.points
            reward[row, kind] += each.reward * _REWARD_POINTS
    columns = (counts.sum(axis=0), *smoothed(counts, points), *smoothed(counts, reward))
    return PricesFigures(
        games=len(used),
        decisions=sum(game.decisions for game in used),
        disagreements=sum(game.disagreements for game in used),
        played=int(counts.sum()),
        cost=_of_errors([counts, points], ratio(1, 0)),
        slope=_slope(counts, points),
        slope_reward=_slope(counts, reward),
        cpu_hours=round(sum(game.seconds for game in games) / 3600.0, 2),
        table=PriceTable(
            policy=plan.policy,
            identity=plan.identity,
            command=_command(plan),
            commit=current_commit(),
            kinds=tuple(_price_of(*row) for row in zip(KINDS, *map(np.ndarray.tolist, columns), strict=True)),
        ),
    )


def smoothed(counts: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """``[K]`` twice: the prices of `KINDS`, and half the widths of their 95 % intervals.

    Few differences say little, so a price is drawn towards those of kinds with the same traits: it is the
    posterior mean under a normal prior.

    Args:
        counts: ``[G, K]`` disagreements by game.
        sums: ``[G, K]`` their costs.
    """
    traits = [msgspec.structs.astuple(kind) for kind in KINDS]
    shared = [
        [sum(a == b for a, b in zip(one, other, strict=True) if a is not None) for other in traits]
        for one in traits
    ]
    prior = _COMMON**2 + _TRAIT**2 * np.array(shared) + _OWN**2 * np.eye(len(KINDS))
    # costs of one game depend on each other, so the noise is that of their sums
    squares = np.square(sums - counts * sums.sum() / counts.sum()).sum(axis=0)
    number = counts.sum(axis=0)
    noise = (squares + _NOISE_COUNT * _NOISE**2) / (number + _NOISE_COUNT)
    covariance = np.linalg.inv(np.linalg.inv(prior) + np.diag(number / noise))
    return covariance @ (sums.sum(axis=0) / noise), _NORMAL * np.sqrt(np.diag(covariance))


def _slope(counts: Floats, sums: Floats) -> Estimate:
    """The slope of costs on prices: each fifth of the games is held out in turn, and priced by the others."""
    fold = np.arange(len(counts)) % _FOLDS
    priced = np.array([smoothed(counts[fold != each], sums[fold != each])[0] for each in range(_FOLDS)])[fold]
    return _of_errors([counts, counts * priced, sums, counts * priced**2, sums * priced], _slope_of)


def _slope_of(sums: Floats) -> Floats:
    number, priced, costs, squares, products = np.moveaxis(sums, -1, 0)
    slope: Floats = (products - priced * costs / number) / (squares - priced**2 / number)
    return slope


def _of_errors(columns: Sequence[Floats], statistic: Statistic) -> Estimate:
    """A statistic of sums over errors, with an interval from resampled games."""
    sums = np.column_stack([column[:, _ERRORS].sum(axis=1) for column in columns])
    return estimate(sums, resample(sums), statistic)


def _price_of(
    kind: Kind, number: float, points: float, error: float, reward: float, reward_error: float
) -> KindPrice:
    return KindPrice(
        kind,
        int(number),
        round(points, -1),
        round(error, -1),
        round(reward / _REWARD_POINTS, 2),
        round(reward_error / _REWARD_POINTS, 2),
    )


def _command(plan: PricesPlan) -> str:
    data = (f"--data {Path(path).name}" for path in plan.data)
    rest = f"--games {plan.games} --walls {plan.walls} --seed {plan.seed}"
    return " ".join(("suzaku eval prices", *data, rest))


PRICES: Final = Measurement("prices", PricesPlan, GamePrices, figures_of, _setup, prices_of_games, TOGETHER)
"""The plan of `suzaku eval prices`, and the row of a game."""
