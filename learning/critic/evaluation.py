"""`suzaku eval critic`: how much the critic explains of what the rest of a round brings, by how much is left.

Beside it stands a table: what the rest of a round brought an opponent on average in the training games, by
the tiles left in the wall, the opponent's shanten and riichi, whether another opponent has declared, and
whether it deals. The reward predictor foresees no change within a round, so it explains nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from kit.errors import ConfigError
from kit.options import INTERNAL, Count, Seed
from learning.corpus.layout import Split
from learning.corpus.reader import Corpus, Numbers
from learning.critic.outcomes import Outcomes
from learning.matches.statistics import Estimate, Floats, Statistic, estimate, ratio, resample
from learning.samples.choice import choose
from learning.samples.hidden import HiddenHands
from learning.samples.loader import Loader, Moments
from learning.samples.position_kernels import AT_DRAWS
from policies.play.critic import POINTS_UNIT, REWARD_UNIT, Critic
from policies.reward import Predictor

_LEFT: Final = (4, 8, 16, 32)
"""Draws left in the round at which another part begins."""
_UNITS: Final = ("points", "reward")
_SCALES: Final = (POINTS_UNIT, REWARD_UNIT)
_BINS: Final = 10
_CELLS: Final = (8, 4, 2, 2, 2)
"""Sizes of the table: tens of tiles left, shanten, riichi, another opponent's riichi, dealer."""


class CriticEvaluation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A measurement of the critic.

    Attributes:
        games: most games of the test split to use.
        table_games: most games of the training split that the table is made of.
        seed: seed of the resamples, and of the draws of the training games.
        split: the split to measure on.
    """

    games: Count = 500
    table_games: Annotated[int, Meta(ge=10)] = 2000
    seed: Seed = 0
    split: Annotated[Split, INTERNAL] = "test"


class Explained(msgspec.Struct, frozen=True):
    """The variance explained, of one unit, where so much of the round is left.

    Attributes:
        unit: points, or the expected final reward.
        draws_left: draws until the round ends.
        draws: number of moments.
        critic: share of the variance over all four players that the critic explains.
        opponents: the same over the three opponents of the player who drew.
        table: share of the latter that the table explains.
    """

    unit: str
    draws_left: str
    draws: int
    critic: Estimate
    opponents: Estimate
    table: Estimate


class Calibration(msgspec.Struct, frozen=True):
    """A tenth of the critic's answers, from the lowest to the highest, and what the rest then brought.

    Attributes:
        unit: points, or the expected final reward.
        said: mean of the answers.
        brought: mean of what the rest of the round brought the same players.
    """

    unit: str
    said: float
    brought: Estimate


class CriticReport(msgspec.Struct, frozen=True):
    """What a critic explains, and whether it exaggerates.

    Attributes:
        games: number of games.
        explained: by unit and part of the round.
        calibration: by unit and tenth of the answers.
    """

    games: int
    explained: tuple[Explained, ...]
    calibration: tuple[Calibration, ...]


class _Seen(NamedTuple):
    """Moments, what the rest brought and what was said of it, ``[N, 2, 4]`` by unit and seat, and cells."""

    moments: Moments
    rest: NDArray[np.float32]
    said: NDArray[np.float32]
    cells: Numbers


def evaluate_critic(
    corpus: Corpus, critic: Critic, predictor: Predictor, plan: CriticEvaluation
) -> CriticReport:
    """Measure a critic on games that it has not learned from.

    Args:
        corpus: the games.
        critic: the critic.
        predictor: expects final rewards at the start of a round.
        plan: the measurement.

    Raises:
        ConfigError: a split has no games.
    """
    table = _table(corpus, predictor, plan)
    seen = _joined(_looked_at(corpus, critic, predictor, _games_of(corpus, plan.split, plan.games), plan, 1))
    left = _draws_left(seen.moments)
    parts = np.searchsorted(_LEFT, left, side="right")
    owners = np.unique(seen.moments.game, return_inverse=True)[1]
    rows = [
        _explained(seen, table[unit], owners, (parts == part, _part_name(part)), unit, plan.seed)
        for unit in range(len(_UNITS))
        for part in range(len(_LEFT) + 1)
    ]
    calibrated = [each for unit in range(len(_UNITS)) for each in _calibration(seen, owners, unit, plan.seed)]
    return CriticReport(int(owners.max()) + 1, tuple(rows), tuple(calibrated))


def _games_of(corpus: Corpus, split: Split, most: int) -> Numbers:
    games = corpus.select(split=split)[:most]
    if not len(games):
        raise ConfigError(f"no game is in the {split} split; build a larger corpus")
    return games


def _looked_at(
    corpus: Corpus,
    critic: Critic | None,
    predictor: Predictor,
    games: Numbers,
    plan: CriticEvaluation,
    one_in: int,
) -> Iterator[_Seen]:
    """The moments after draws of some games; without a critic nothing is said of them."""
    outcomes = Outcomes(corpus, games, predictor)
    loader = Loader(
        corpus, choose(corpus, games), AT_DRAWS,
        augment=False, hands=True, moments=True, one_in=one_in, seed=plan.seed, workers=1,
    )  # fmt: skip
    for batch in loader.epoch():
        assert batch.moments is not None
        assert batch.hands is not None
        rest = outcomes.rest(batch.moments)
        said = np.zeros_like(rest)
        if critic is not None:
            said = critic.model.scores(batch.planes.numpy()).reshape(rest.shape)
        yield _Seen(batch.moments, rest, said, _cells(batch.moments, batch.hands))


def _cells(moments: Moments, hands: HiddenHands) -> Numbers:
    """``[N, 3]``: the cell of the table for each opponent."""
    declared = hands.riichi.astype(np.int64)
    others = (declared.sum(axis=1, keepdims=True) - declared) > 0
    dealers = (moments.round_index.astype(np.int64) % 4 - moments.player) % 4
    facts = (
        np.broadcast_to(moments.wall_left[:, None] // 10, declared.shape),
        np.clip(hands.shanten, 0, 3).astype(np.int64),
        declared,
        others.astype(np.int64),
        (dealers[:, None] == np.arange(1, 4)).astype(np.int64),
    )
    cells: Numbers = np.ravel_multi_index(facts, _CELLS)
    return cells


def _table(corpus: Corpus, predictor: Predictor, plan: CriticEvaluation) -> Floats:
    """``[2, cells]``: the mean of each cell over training games; of all cells where one has none."""
    games = _games_of(corpus, "train", plan.table_games)
    sums, counts = np.zeros((2, int(np.prod(_CELLS)))), np.zeros(int(np.prod(_CELLS)))
    for seen in _looked_at(corpus, None, predictor, games, plan, 8):
        cells = seen.cells.ravel()
        counts += np.bincount(cells, minlength=len(counts))
        for unit in range(2):
            sums[unit] += np.bincount(cells, seen.rest[:, unit, 1:].ravel(), len(counts))
    mean = sums.sum(axis=1, keepdims=True) / counts.sum()
    return np.where(counts > 0, sums / np.maximum(counts, 1), mean)


def _joined(parts: Iterator[_Seen]) -> _Seen:
    moments, rest, said, cells = zip(*parts, strict=True)
    whole = Moments(*(np.concatenate(column) for column in zip(*moments, strict=True)))
    return _Seen(whole, np.concatenate(rest), np.concatenate(said), np.concatenate(cells))


def _draws_left(moments: Moments) -> Numbers:
    """``[N]``: draws after each until its round ends."""
    keys = np.column_stack([moments.game, moments.round_index, moments.honba])
    rounds = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    last = np.full(int(rounds.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(last, rounds, moments.wall_left.astype(np.int64))
    left: Numbers = moments.wall_left - last[rounds]
    return left


def _explained(
    seen: _Seen,
    table: Floats,
    owners: Numbers,
    part: tuple[NDArray[np.bool_], str],
    unit: int,
    seed: int,
) -> Explained:
    here, draws_left = part
    rest, said = seen.rest[here, unit].astype(np.float64), seen.said[here, unit].astype(np.float64)
    errors = (
        (rest - said, rest),
        (rest[:, 1:] - said[:, 1:], rest[:, 1:]),
        (rest[:, 1:] - table[seen.cells[here]], rest[:, 1:]),
    )
    games = int(owners.max()) + 1
    sums = np.concatenate([_sums(*each, owners[here], games) for each in errors], axis=1)
    drawn = resample(sums, seed=seed)
    found = [estimate(sums, drawn, _share(4 * place)) for place in range(len(errors))]
    return Explained(_UNITS[unit], draws_left, int(here.sum()), *found)


def _sums(errors: Floats, rest: Floats, owners: Numbers, games: int) -> Floats:
    """``[games, 4]``: numbers, sums, sums of squares and of squared errors, of each game."""
    quantities = (np.ones(len(rest)) * rest.shape[1], rest.sum(1), (rest**2).sum(1), (errors**2).sum(1))
    return np.column_stack([np.bincount(owners, each, games) for each in quantities])


def _calibration(seen: _Seen, owners: Numbers, unit: int, seed: int) -> Iterator[Calibration]:
    said, rest = seen.said[:, unit].ravel() * _SCALES[unit], seen.rest[:, unit].ravel() * _SCALES[unit]
    games, count = np.repeat(owners, seen.said.shape[2]), int(owners.max()) + 1
    edges = np.quantile(said, np.linspace(0.0, 1.0, _BINS + 1)[1:-1])
    bins = np.searchsorted(edges, said, side="right")
    for number in np.unique(bins):
        here = bins == number
        columns = (np.ones(len(rest)), rest)
        sums: Floats = np.stack([np.bincount(games[here], each[here], count) for each in columns], axis=1)
        brought = estimate(sums, resample(sums, seed=seed), ratio(1, 0))
        yield Calibration(_UNITS[unit], float(said[here].mean()), brought)


def _share(first: int) -> Statistic:
    """Share of the variance that is explained, from four sums."""

    def statistic(sums: Floats) -> Floats:
        count, total, squares, errors = (sums[..., first + place] for place in range(4))
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Floats = 1.0 - errors / (squares - total**2 / count)
        return share

    return statistic


def _part_name(part: int) -> str:
    edges: Sequence[int] = (0, *_LEFT)
    if part == len(_LEFT):
        return f"{edges[part]} or more"
    return f"{edges[part]} to {edges[part + 1] - 1}"
