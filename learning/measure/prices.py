"""`suzaku eval prices`: what people's disagreements with the policy cost.

Both choices are played out to the end of the round by the policy in every seat, with the true hands, over the
same redrawn wall. More disagreements say more than more walls for each.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import structlog

from game.warmup import warm_up
from kit.errors import ConfigError, ReplayError
from kit.options import INTERNAL, Count, Seed
from kit.workers.pool import Work
from learning.data.choice import place_in_shares
from learning.data.layout import CARD_FILE, is_ai, split_of
from learning.data.sources import RecordText, load, stored_games
from learning.runs.commit import current_commit
from learning.runs.measurement import Measurement, MeasurementReport, report_text
from learning.runs.statistics import Estimate, Floats, Means
from learning.runs.store import ResumablePlan
from policies.checkpoint.store import load_predictor
from policies.deals.deal import RoundView, true_deals
from policies.flow.draws import drawn_bits, drawn_share
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
from replays.review.prices import Prices, Unlikeness, included_prices, terms_of, unlikeness_of
from replays.review.report import check_player, length_of

_ERROR: Final = THRESHOLDS.inaccuracy
_CLOSE_SHARE: Final = 0.2
"""Share of the disagreements to play out that are no errors: there are many of them."""

_log = structlog.get_logger(__name__)


class PricesPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        data: paths of the records.
        records: hash of the ids of all games there outside the training part; the first in a fixed order are
            taken.
        policy: policy that judges, averaged over 12 permutations as in reviews, and plays: network, phoenix
            or a folder of checkpoints.
        identity: changes when the policy behind the name changes.
        games: games to take disagreements from, all outside the training part.
        seed: seed of the disagreements and walls.
        compute: how networks compute.
        format: format of the results.
    """

    data: Annotated[tuple[str, ...], INTERNAL]
    records: Annotated[str, INTERNAL]
    policy: str = "network"
    identity: Annotated[str, INTERNAL]
    games: Count = 1000
    seed: Seed = 0
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = "suzaku-prices/2"

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        return super().flags | {"--data": " ".join(self.data)}


class Disagreement(msgspec.Struct, frozen=True, array_like=True):
    """A disagreement, and what the player's choice cost in points and expected final reward."""

    of: Unlikeness
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


def prices_of_games(setup: tuple[PricesPlan, Sequence[RecordText]]) -> Work[int, GamePrices]:
    """Load the policy; return the function that plays the disagreements of a game out, given all records."""
    warm_up()
    plan, records = setup
    judge, player = (load_named(plan.policy, times, compute=plan.compute).policy for times in (12, 1))
    predictor = load_predictor(SHIPPED)

    def price(number: int) -> Iterator[GamePrices]:
        begun = process_time()
        try:
            record = read_game(records[number].text)
        except ReplayError as exc:
            _log.warning("prices.unusable", game_id=records[number].game_id, reason=str(exc))
            yield GamePrices(number, 0, 0, (), 0.0)
            return
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
                found = unlikeness_of(moment, opinion)
                key = plan.seed, number, seat, moment.round, moment.event
                if found is None or (found.ratio >= _ERROR and drawn_share(*key) >= _CLOSE_SHARE):
                    continue
                deals = true_deals(RoundView.of(moment), moment.record, 1, drawn_bits(*key))
                branchings.append(Branching(deals, (opinion.preferred, moment.done), (0,)))
                rest.append((found, RewardValue(predictor, starts[: moment.round + 1])))
        ends = Playouts(PolicyChooser(player), length).ends(branchings)
        played = tuple(
            Disagreement(
                found, *(round(float(each.ahead(tables, value)[0]), 4) for value in (points_value, reward))
            )
            for each, tables, (found, reward) in zip(branchings, ends, rest, strict=True)
        )
        yield GamePrices(number, decisions, disagreements, played, round(process_time() - begun, 3))

    return price


def make_plan(data: Sequence[Path], **given: Any) -> tuple[PricesPlan, list[RecordText]]:
    """The plan with the fields that were given, and its records.

    Raises:
        ConfigError: the policy does not exist, or the data has too few games.
        CheckpointError: the policy's checkpoints cannot be used.
        ReplayError: the data has no records.
    """
    for path in data:
        if (path / CARD_FILE).is_file():
            raise ConfigError(f"--data {path}: a built corpus; give the records it was built from")
    plan = PricesPlan(data=tuple(map(str, data)), records="", identity="", **given)
    identity, ids = load_named(plan.policy, 12).identity, set[str]()

    def others() -> Iterator[RecordText]:
        for stored in stored_games(data):
            try:
                game = load(stored)
            except ReplayError as exc:
                _log.warning("prices.unreadable", place=stored.place, reason=str(exc))
                continue
            if split_of(game.game_id) and game.game_id not in ids:
                ids.add(game.game_id)
                yield game

    found = heapq.nsmallest(plan.games, others(), key=lambda game: place_in_shares(game.game_id.encode()))
    if len(found) < plan.games:
        raise ConfigError(f"--games {plan.games}: the data has {len(found)} games outside the training part")
    digest = hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()
    return msgspec.structs.replace(plan, records=digest, identity=identity), found


# --- figures ----------------------------------------------------------------------------------------------

_FOLDS: Final = 5
_RATIOS: Final = (0.1, 0.03, 0.01, 0.003, 0.001)
_COLUMNS: Final = ("ratio", "1-shanten or less", "2-shanten", "3-shanten or more")


class PricesFigures(msgspec.Struct, frozen=True):
    """All figures.

    Attributes:
        games: that can be used.
        decisions: of people.
        disagreements: decisions that disagree with the policy.
        played: disagreements played out.
        cost: points that an error costs on average.
        slope: points by which costs in held-out games rise with each point of the price; 1 if it is right.
        slope_reward: the same for the final reward.
        slope_included: the same in points for the included prices; a check if these games did not make them.
        cpu_hours: CPU time.
        prices: the prices.
    """

    games: int
    decisions: int
    disagreements: int
    played: int
    cost: Estimate
    slope: Estimate
    slope_reward: Estimate
    slope_included: Estimate
    cpu_hours: float
    prices: Prices


def figures_of(plan: PricesPlan, games: Sequence[GamePrices]) -> PricesFigures:
    """The figures of some games.

    Raises:
        ConfigError: no error was played out.
    """
    rows = [
        (game.number, each.of.ratio, each.of.shanten, each.points, each.reward)
        for game in games
        for each in game.played
    ]
    if not any(ratio < _ERROR for _, ratio, *_ in rows):
        raise ConfigError("the policy finds no error in these games; give more --games")
    owners, ratios, distances, points, reward = np.array(rows).T
    terms, errors = terms_of(ratios, distances), ratios < _ERROR
    coefficients, covariance = fitted(owners, terms, points)
    data = " ".join(f"--data {Path(path).name}" for path in plan.data)
    return PricesFigures(
        games=sum(game.decisions > 0 for game in games),
        decisions=sum(game.decisions for game in games),
        disagreements=sum(game.disagreements for game in games),
        played=len(rows),
        cost=Means(owners[errors], points[errors])[0],
        slope=_held_out(owners, terms, points),
        slope_reward=_held_out(owners, terms, reward),
        slope_included=_slope(owners, terms @ included_prices().points, points),
        cpu_hours=round(sum(game.seconds for game in games) / 3600.0, 2),
        prices=Prices(
            plan.policy,
            plan.identity,
            f"suzaku eval prices {data} --games {len(games)} --seed {plan.seed}",
            current_commit(),
            tuple(coefficients.round(3).tolist()),
            tuple(map(tuple, covariance.round(4).tolist())),
        ),
    )


def fitted(owners: Floats, terms: Floats, costs: Floats) -> tuple[Floats, Floats]:
    """Prices by least squares.

    Args:
        owners: ``[N]`` the game of each disagreement.
        terms: ``[N, K]`` its terms.
        costs: ``[N]`` its cost.

    Returns:
        ``[K]`` the coefficients, and ``[K, K]`` the covariance of their errors; games are independent.
    """
    inverse = np.linalg.pinv(terms.T @ terms)
    coefficients = inverse @ (terms.T @ costs)
    games = np.unique(owners, return_inverse=True)[1]
    sums = np.zeros((games.max(initial=-1) + 1, terms.shape[1]))
    np.add.at(sums, games, terms * (costs - terms @ coefficients)[:, None])
    return coefficients, inverse @ (sums.T @ sums) @ inverse


def _held_out(owners: Floats, terms: Floats, costs: Floats) -> Estimate:
    """The slope of costs on prices: each fifth of the games is held out in turn, and priced by the others."""
    priced = np.empty(len(costs))
    for fold in range(_FOLDS):
        held = owners % _FOLDS == fold
        priced[held] = terms[held] @ fitted(owners[~held], terms[~held], costs[~held])[0]
    return _slope(owners, priced, costs)


def _slope(owners: Floats, priced: Floats, costs: Floats) -> Estimate:
    return Means(owners, priced, costs, priced**2, priced * costs).of(_slope_of)


def _slope_of(means: Floats) -> Floats:
    priced, cost, square, product = np.moveaxis(means, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope: Floats = (product - priced * cost) / (square - priced**2)
    return slope


def text_of(report: MeasurementReport[PricesPlan, PricesFigures]) -> str:
    """The report for people: what errors cost, whether held-out games agree, and prices in points."""
    plan, found = report.plan, report.figures
    verdicts = (
        f"an error costs {found.cost.text(0)} points on average to the end of the round",
        f"slope of costs in held-out games on prices: points {found.slope.text(2)}, final reward "
        f"{found.slope_reward.text(2)}; on the included prices {found.slope_included.text(2)}",
    )
    rows = [
        (f"{ratio:g}", *(f"{price.points:.0f} ± {price.error:.0f}" for price in prices))
        for ratio in _RATIOS
        for prices in [[found.prices.price(Unlikeness(ratio, distance)) for distance in (1, 2, 3)]]
    ]
    measured = (
        f"{found.played:,} of {found.disagreements:,} disagreements with {plan.policy}, {found.games:,} games"
        f", seed {plan.seed}; {found.cpu_hours} CPU hours; {plan.compute.precision}"
    )
    return report_text(verdicts, _COLUMNS, rows, measured)


def prices(records: Sequence[RecordText] = ()) -> Measurement[PricesPlan, GamePrices, PricesFigures]:
    """`suzaku eval prices`: a row for each of the records of a plan; reports need none."""
    return Measurement(
        "prices", PricesPlan, GamePrices, figures_of, lambda plan: (plan, records), prices_of_games
    )
