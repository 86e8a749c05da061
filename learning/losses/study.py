"""`suzaku eval loss`: compares the values behind the losses of reviews with rollouts and the true hands."""

from __future__ import annotations

import itertools
import math
import platform
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta

from game.actions import ActionKind
from kit.errors import ReplayError
from kit.options import Count, Seed
from learning.corpus.layout import SPLITS, Part, split_of
from learning.corpus.sources import load, stored_games
from learning.losses.sample import (
    Choices,
    PlayedOutOption,
    WeighedDecision,
    options_of,
    play_out,
    weighed,
    winners_on,
)
from learning.matches.statistics import Estimate, Floats, estimate, ratio, resample
from policies.checkpoint import load_predictor
from policies.flow.slots import Policy
from policies.play.included import SHIPPED
from policies.play.named import load_named
from policies.reward import Predictor, round_starts
from replays.formats import read_game
from replays.record import GameRecord
from replays.review.grading import THRESHOLDS, losses
from replays.review.prospects import Prospects
from replays.review.report import known_hands, length_of

_COUNT, _CROSS, _SQUARE, _TRUE, _NOISE, _PLAYED, _CROSS_NATS, _SQUARE_NATS = range(8)
"""Columns of the sums of a game."""


class Pair(NamedTuple):
    """The preferred option compared with another one.

    Attributes:
        ruled: how much more the hand is worth with the preferred option, by the rules.
        nats: logarithm of the policy's probability of the preferred option over that of the other, at the
            step where they differ.
        played: mean difference of the reward in rollouts.
        noise: variance of that mean.
    """

    ruled: float
    nats: float
    played: float
    noise: float


class Slope(msgspec.Struct, frozen=True):
    """The differences in rollouts against those of the rules, for one class of pairs.

    Attributes:
        pairs: number of pairs.
        ruled: root mean square of the rules' differences, in rank points.
        played: mean difference in rollouts.
        share: difference in rollouts per point of difference between the rules' values.
        nat: the same per factor of e between the policy's probabilities.
        spread: standard deviation of the true differences around that share of the rules' ones; estimated
            from variances, 0 if noise explains all of it.
    """

    pairs: int
    ruled: float
    played: Estimate
    share: Estimate
    nat: Estimate
    spread: Estimate


class Risk(msgspec.Struct, frozen=True):
    """The frequency of deal-ins, compared with the rules' probability.

    Attributes:
        tiles: number of tiles.
        ruled: mean probability by the rules.
        true: share that another player could have won on.
        share: ``true`` divided by ``ruled``.
    """

    tiles: int
    ruled: float
    true: float
    share: Estimate


def slope(games: Sequence[Sequence[Pair]], seed: int) -> Slope | None:
    """The figures of one class of pairs, by game; None if there are none."""
    sums = np.array([_sums(pairs) for pairs in games])
    total = sums.sum(axis=0)
    if not total[_COUNT]:
        return None
    drawn = resample(sums, seed=seed)
    return Slope(
        pairs=int(total[_COUNT]),
        ruled=float(np.sqrt(total[_SQUARE] / total[_COUNT])),
        played=estimate(sums, drawn, ratio(_PLAYED, _COUNT)),
        share=estimate(sums, drawn, ratio(_CROSS, _SQUARE)),
        nat=estimate(sums, drawn, ratio(_CROSS_NATS, _SQUARE_NATS)),
        spread=estimate(sums, drawn, _spread),
    )


def risk(games: Sequence[Iterable[tuple[float, bool]]], seed: int) -> Risk | None:
    """The figures of one class of tiles, by game: the rules' probability of each, and whether it deals in."""
    rows = [np.array(list(tiles), np.float64).reshape(-1, 2) for tiles in games]
    sums = np.array([(len(tiles), *tiles.sum(axis=0)) for tiles in rows])
    count, ruled, true = sums.sum(axis=0).tolist()
    if not ruled:
        return None
    drawn = resample(sums, seed=seed)
    share = estimate(sums, drawn, ratio(2, 1))
    return Risk(int(count), ruled / count, true / count, share)


def _sums(pairs: Sequence[Pair]) -> list[float]:
    ruled, nats, played, noise = np.array(pairs, np.float64).reshape(-1, 4).T
    sums = (
        ruled @ played,
        ruled @ ruled,
        played @ played,
        noise.sum(),
        played.sum(),
        nats @ played,
        nats @ nats,
    )
    return [len(pairs), *map(float, sums)]


def _spread(rows: Floats) -> Floats:
    """From the sums: the variance of the true differences without noise and without the share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = rows[..., _CROSS] ** 2 / rows[..., _SQUARE]
        left = (rows[..., _TRUE] - rows[..., _NOISE] - fitted) / rows[..., _COUNT]
    spread: Floats = np.sqrt(np.maximum(0.0, left))
    return spread


SEAT: Final = 0
"""Decisions are those of the first dealer."""
WORTH_LESS: Final = 0.5
"""Rank points by which another option must be worth more to be counted."""
_LEAST_RATIO: Final = 1e-6
"""Lower bound for ratios."""
_CHANCES: Final = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.01)
"""Bounds of the classes of tiles by the probability that the policy gives to discarding them."""


class LossPlan(msgspec.Struct, frozen=True):
    """The plan of a measurement.

    Attributes:
        games: maximum number of games; the first matching ones are used.
        split: split to use: train, validation, test or all.
        worlds: walls sampled for each decision that is played out.
        policy: networks that judge (averaged over twelve permutations) and play the rounds out (with one):
            network, phoenix, large or a folder of checkpoints.
        seed: seed of all samples.
    """

    games: Count = 50
    split: Part = "all"
    worlds: Annotated[int, Meta(ge=2)] = 12
    policy: str = "network"
    seed: Seed = 0


class Losses(msgspec.Struct, frozen=True):
    """Losses as reviews have them.

    Attributes:
        disagreements: number of disagreements with a loss.
        negative: share of these losses below 0.
        deviation: standard deviation of these losses.
        clear: share of these losses that clearly differ from 0.
        clear_negative: share of these losses that are clearly below 0.
        decisions: number of decisions whose preferred option has a value.
        starred_less: share of these in which another option is worth more by `WORTH_LESS` rank points.
        starred_clearly_less: share of these in which another option is clearly worth more.
    """

    disagreements: int
    negative: float
    deviation: float
    clear: float
    clear_negative: float
    decisions: int
    starred_less: float
    starred_clearly_less: float


class LossReport(msgspec.Struct, frozen=True, kw_only=True):
    """The results of `suzaku eval loss`.

    Attributes:
        machine: the machine it ran on.
        seconds: duration.
        plan: the plan.
        games: number of games used.
        stopped: whether Ctrl-C ended it early.
        left_out: number of records that could not be used.
        losses: losses as reviews have them.
        slopes: how far rollouts confirm the rules' values, by class of options; only pairs in which no player
            could win on either discard.
        risks: risks of dealing in, by the policy's probability of the discard.
    """

    machine: str
    seconds: float
    plan: LossPlan
    games: int
    stopped: bool
    left_out: int
    losses: Losses
    slopes: dict[str, Slope]
    risks: dict[str, Risk]

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 130 if it was stopped."""
        return 130 if self.stopped else 0


class _Sums:
    """Sums over games."""

    def __init__(self) -> None:
        self.pairs: list[dict[str, list[Pair]]] = []
        self.tiles: list[dict[str, list[tuple[float, bool]]]] = []
        self.lost: list[tuple[float, bool]] = []
        self.starred: list[tuple[float, bool]] = []
        self.left_out = 0

    def figures(self, seed: int) -> tuple[Losses, dict[str, Slope], dict[str, Risk]]:
        slopes = {
            name: slope([game.get(name, []) for game in self.pairs], seed) for name in _names(self.pairs)
        }
        risks = {name: risk([game.get(name, []) for game in self.tiles], seed) for name in _names(self.tiles)}
        lost, starred = np.array(self.lost).reshape(-1, 2), np.array(self.starred).reshape(-1, 2)
        found = Losses(
            disagreements=len(lost),
            negative=_mean(lost[:, 0] < 0.0),
            deviation=float(lost[:, 0].std()) if len(lost) else 0.0,
            clear=_mean(lost[:, 1] > 0.0),
            clear_negative=_mean((lost[:, 1] > 0.0) & (lost[:, 0] < 0.0)),
            decisions=len(starred),
            starred_less=_mean(starred[:, 0] < -WORTH_LESS),
            starred_clearly_less=_mean(starred[:, 1] > 0.0),
        )
        return (
            found,
            {name: each for name, each in slopes.items() if each is not None},
            {name: each for name, each in risks.items() if each is not None},
        )


def study(paths: Sequence[Path], plan: LossPlan, *, quiet: bool) -> LossReport:
    """Measure; on Ctrl-C, report on the games finished so far.

    Args:
        paths: records, folders and shards of them.
        plan: the plan.
        quiet: print no progress.

    Raises:
        ConfigError: the policy does not exist.
        ReplayError: there are no records, or none that can be used.
    """
    judge, player = load_named(plan.policy, 12).policy, load_named(plan.policy).policy
    predictor = load_predictor(SHIPPED)
    sums, started = _Sums(), monotonic()
    stopped = False
    try:
        for record in itertools.islice(_records(paths, plan, sums), plan.games):
            _add(sums, record, plan, judge, player, predictor)
            if not quiet:
                pairs = sum(len(game.get("all", ())) for game in sums.pairs)
                sys.stderr.write(f"{len(sums.pairs)} games, {pairs} pairs, {monotonic() - started:.0f} s\n")
    except KeyboardInterrupt:
        stopped = True
    if not sums.pairs:
        raise ReplayError(
            f"no game in {', '.join(map(str, paths))} could be used; four open hands are needed"
        )
    found, slopes, risks = sums.figures(plan.seed)
    return LossReport(
        machine=platform.platform(),
        seconds=round(monotonic() - started, 1),
        plan=plan,
        games=len(sums.pairs),
        stopped=stopped,
        left_out=sums.left_out,
        losses=found,
        slopes=slopes,
        risks=risks,
    )


def _records(paths: Sequence[Path], plan: LossPlan, sums: _Sums) -> Iterator[GameRecord]:
    """The games of the split with all hands known; the others are counted."""
    for stored in stored_games(paths):
        try:
            loaded = load(stored)
            if plan.split not in ("all", SPLITS[split_of(loaded.game_id)]):
                continue
            record = read_game(loaded.text)
        except ReplayError:
            sums.left_out += 1
            continue
        if record.rounds and all(known_hands(record)):
            yield record
        else:
            sums.left_out += 1


def _add(
    sums: _Sums, record: GameRecord, plan: LossPlan, judge: Policy, player: Policy, predictor: Predictor
) -> None:
    length = length_of(record.game_type)
    prospects = Prospects(predictor, round_starts(record.events), length)
    rows = weighed(record, SEAT, judge, prospects)
    number = len(sums.pairs)
    rng = np.random.default_rng([plan.seed, number])
    drawn = [(row, options) for row in rows if (options := options_of(row, SEAT, rng))]
    asked = [
        Choices(row.moment, (row.preferred, *(each.action for each in options))) for row, options in drawn
    ]
    rewards = play_out(asked, SEAT, length, player, prospects, worlds=plan.worlds, seed=(plan.seed, number))
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for (row, options), (best, *others) in zip(drawn, rewards, strict=True):
        for option, brought in zip(options, others, strict=True):
            apart = best - brought
            ruled = row.worth[row.preferred].onward - row.worth[option.action].onward
            _, ratio = row.opinion.parted(option.action)
            nats = -math.log(max(_LEAST_RATIO, ratio))
            pair = Pair(ruled, nats, float(apart.mean()), float(apart.var(ddof=1)) / len(apart))
            for name in ("all", row.kind(option.action), option.why, *_ratio_class(option, ratio)):
                pairs[name].append(pair)
    sums.pairs.append(pairs)
    sums.tiles.append(_tiles(rows))
    for row in rows:
        _add_losses(sums, row)


def _ratio_class(option: PlayedOutOption, ratio: float) -> Iterator[str]:
    """Of what was played, below which threshold of the categories its ratio lies."""
    if option.why == "played":
        limits = (THRESHOLDS.blunder, THRESHOLDS.mistake, THRESHOLDS.inaccuracy)
        bound = next((limit for limit in limits if ratio < limit), 1.0)
        yield f"ratio below {bound:g}"


def _add_losses(sums: _Sums, row: WeighedDecision) -> None:
    lost = losses(row.worth, row.preferred)
    least = min(lost.values())
    sums.starred.append((least.value, any(each.clear and each.value < 0.0 for each in lost.values())))
    if not row.opinion.agrees(row.moment.done) and row.played in lost:
        sums.lost.append((lost[row.played].value, lost[row.played].clear))


def _tiles(rows: Sequence[WeighedDecision]) -> dict[str, list[tuple[float, bool]]]:
    """The probability that each discard deals in to each threat, and whether it would have."""
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        for action in row.worth:
            if action.kind is not ActionKind.DISCARD:
                continue
            winners = list(winners_on(row.moment.record, SEAT, action.tile))
            name = _class_of(row.chance(action))
            for seat, chance in enumerate(row.danger.deal_in[:, action.tile >> 2].tolist()):
                if chance > 0.0:
                    for each in ("all", name):
                        found[each].append((chance, (SEAT + seat + 1) % 4 in winners))
    return found


def _class_of(chance: float) -> str:
    place = next(n for n, bound in enumerate(_CHANCES[1:]) if chance < bound)
    return f"{_CHANCES[place]:g} to {min(1.0, _CHANCES[place + 1]):g}"


def _names(
    games: Sequence[dict[str, list[Pair]]] | Sequence[dict[str, list[tuple[float, bool]]]],
) -> list[str]:
    return sorted({name for game in games for name in game})


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0
