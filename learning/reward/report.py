"""Evaluates predicted final rewards: the predictor against a constant and tables, and its calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.ranking import Rewards
from game.scoring.settlement import LAST_ROUND
from learning.reward.games import GamesWithPlaces
from policies.reward import PaddedGames, Predictor, places_of, predict

Foresee: TypeAlias = Callable[[PaddedGames], NDArray[np.float64]]
"""Predicted rewards, ``[G, T, 4]``."""

Cells: TypeAlias = NDArray[np.int64]
"""``[G, T, 4]``: the cell of each player at the start of each round."""

ROUND_AND_PLACE: Final = 1
"""Cells by rounds left to the last regular one, and current place."""
AND_GAPS: Final = 2
"""The same cells, divided by the gaps to the next player above and below."""

_SHRINKAGE: Final = 30.0
"""Players in a finer cell at which it counts as much as the coarser one; chosen by validation."""
_GAPS: Final = (1_000, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000)
"""Thresholds between classes of score differences."""
_BUCKETS: Final = len(_GAPS) + 1
_FIRST: Final = -7
_LAST: Final = 1
_COARSE: Final = 4 * (_LAST - _FIRST + 1)
_SIZES: Final = (_COARSE, _COARSE * _BUCKETS**2)

CONSTANT: Final = "constant"
TABLE: Final = "round and place"
GAPS_TABLE: Final = "round, place and gaps"
NETWORK: Final = "network"
FORGETFUL: Final = "network without the rounds before"

_DECILES: Final = 10
_NORMAL_95: Final = 1.96
_WINDS: Final = "ESWN"


class Decile(msgspec.Struct, frozen=True):
    """A tenth of all predictions, in ascending order.

    Attributes:
        tenth: from 1 to 10; empty tenths, where many predictions are equal, are left out.
        expected: mean prediction.
        actual: mean actual reward.
        interval: half the width of the 95 % interval of ``actual``, over games.
        answers: number of answers.
    """

    tenth: int
    expected: float
    actual: float
    interval: float
    answers: int


class RewardReport(msgspec.Struct, frozen=True):
    """Accuracy of predicted rewards, at the start of each round of some games for each player.

    Attributes:
        split: the games.
        corpus: content hash of the corpus.
        games: number of games.
        answers: players times rounds.
        square_errors: mean square error of each method.
        rounds: its square root in single rounds, by round name and method; ``answers`` is their number.
        gain: by how much the network's mean square error is below that of the best table, with half the
            width of its 95 % interval over games.
        last_gain: the same in the last regular round; NaN if none was reached.
        deciles: calibration: predictions and actual rewards by tenth.
        slope: actual rewards regressed on the predictions, with half the width of its 95 % interval over
            games; 1 is calibrated, less is overconfident.
    """

    split: str
    corpus: str
    games: int
    answers: int
    square_errors: dict[str, float]
    rounds: dict[str, dict[str, float]]
    gain: tuple[float, float]
    last_gain: tuple[float, float]
    deciles: tuple[Decile, ...]
    slope: tuple[float, float]


def report_on(
    network: Predictor, counted: GamesWithPlaces, played: GamesWithPlaces, *, split: str, corpus: str
) -> RewardReport:
    """Compare the methods on some games.

    Args:
        network: the predictor.
        counted: games to build the tables from; those the network was trained on.
        played: games to compare on.
        split: their name, for the report.
        corpus: content hash, for the report.
    """
    rewards = network.architecture.rewards
    games = played.games
    answers = {name: foresee(games) for name, foresee in _ways(network, counted).items()}
    brought = np.array(rewards)[played.places - 1][:, None]
    errors = {name: (expected - brought) ** 2 for name, expected in answers.items()}
    gained = errors[GAPS_TABLE] - errors[NETWORK]
    missed = np.where(games.dealt[..., None], brought - answers[NETWORK], 0.0)
    last = games.dealt & (_rounds_by_name(games) == LAST_ROUND["hanchan"])
    return RewardReport(
        split=split,
        corpus=corpus,
        games=len(games.counts),
        answers=4 * int(games.dealt.sum()),
        square_errors={name: float(error[games.dealt].mean()) for name, error in errors.items()},
        rounds=_by_round(games, errors),
        gain=_mean_where(gained, games.dealt),
        last_gain=_mean_where(gained, last),
        deciles=_deciles(answers[NETWORK], missed, games),
        slope=_slope(answers[NETWORK] - np.mean(rewards), missed, games),
    )


def mean_square_error(network: Predictor, played: GamesWithPlaces) -> float:
    """Mean square error of a predictor's rewards at the start of each round, for each player."""
    brought = np.array(network.architecture.rewards)[played.places - 1][:, None]
    return float(((predict(network, played.games) - brought) ** 2)[played.games.dealt].mean())


def one_by_one(games: PaddedGames) -> PaddedGames:
    """Every round as a game of its own, with no history."""
    dealt = games.dealt
    starts = games.starts[dealt][:, None]
    hanchan = np.broadcast_to(games.hanchan[:, None], dealt.shape)[dealt]
    return PaddedGames(starts, np.ones(len(starts), np.int64), hanchan)


def _ways(network: Predictor, counted: GamesWithPlaces) -> Mapping[str, Foresee]:
    rewards = network.architecture.rewards

    def forgetful(games: PaddedGames) -> NDArray[np.float64]:
        expected = np.zeros((*games.starts.shape, 4))
        expected[games.dealt] = predict(network, one_by_one(games))[:, 0]
        return expected

    return {
        CONSTANT: lambda games: np.full((*games.starts.shape, 4), np.mean(rewards)),
        TABLE: RewardTable(counted, ROUND_AND_PLACE, rewards).expected,
        GAPS_TABLE: RewardTable(counted, AND_GAPS, rewards).expected,
        FORGETFUL: forgetful,
        NETWORK: lambda games: predict(network, games),
    }


def _by_round(games: PaddedGames, errors: Mapping[str, NDArray[np.float64]]) -> dict[str, dict[str, float]]:
    names = _rounds_by_name(games)
    found = {}
    for number in np.unique(names[games.dealt]).tolist():
        here = games.dealt & (names == number)
        of_round = {name: math.sqrt(error[here].mean()) for name, error in errors.items()}
        found[f"{_WINDS[number // 4]}{number % 4 + 1}"] = {"answers": 4.0 * int(here.sum()), **of_round}
    return found


def _rounds_by_name(games: PaddedGames) -> NDArray[np.int64]:
    """``[G, T]`` indices of the rounds; those of a tonpuu as in a hanchan with as many left."""
    missing = np.where(games.hanchan, 0, LAST_ROUND["hanchan"] - LAST_ROUND["tonpuu"])
    names: NDArray[np.int64] = games.starts["round_index"].astype(np.int64) + missing[:, None]
    return names


def _slope(
    expected: NDArray[np.float64], missed: NDArray[np.float64], games: PaddedGames
) -> tuple[float, float]:
    """The slope of actual over expected rewards, whose means are 0, and half its 95 % interval over games."""
    known = np.where(games.dealt[..., None], expected, 0.0)
    square = float((known**2).sum())
    off = float((known * missed).sum()) / square
    by_game = (known * (missed - off * known)).sum(axis=(1, 2))
    return 1.0 + off, _NORMAL_95 * math.sqrt(float((by_game**2).sum())) / square


def _deciles(
    expected: NDArray[np.float64], missed: NDArray[np.float64], games: PaddedGames
) -> tuple[Decile, ...]:
    answers = expected[games.dealt].ravel()
    bounds = np.quantile(answers, np.arange(1, _DECILES) / _DECILES)
    tenths = np.digitize(expected, bounds)
    found = []
    for tenth in range(_DECILES):
        here = games.dealt[..., None] & (tenths == tenth)
        count = int(here.sum())
        if not count:
            continue
        mean = float(expected[here].mean())
        off, interval = _mean_with_interval(np.where(here, missed, 0.0).sum(axis=(1, 2)), count)
        found.append(Decile(tenth + 1, mean, mean + off, interval, count))
    return tuple(found)


def _mean_where(values: NDArray[np.float64], here: NDArray[np.bool_]) -> tuple[float, float]:
    """The mean of ``[G, T, 4]`` in some rounds, and half its 95 % interval; NaN if there are none."""
    if not here.any():
        return math.nan, math.nan
    return _mean_with_interval(np.where(here[..., None], values, 0.0).sum(axis=(1, 2)), 4 * int(here.sum()))


def _mean_with_interval(by_game: NDArray[np.float64], count: int) -> tuple[float, float]:
    """A mean over answers from its sums by game, and half its 95 % interval over games."""
    games = len(by_game)
    spread = float(by_game.std(ddof=1)) if games > 1 else math.nan
    return float(by_game.sum()) / count, _NORMAL_95 * spread * math.sqrt(games) / count


# --- tables -------------------------------------------------------------------------------------------------


class RewardTable:
    """The mean reward of the players in the same cell.

    A finer cell adds the mean residual of the coarser one, shrunk towards zero where it has few players.

    Args:
        played: games to count.
        levels: `ROUND_AND_PLACE` or `AND_GAPS`.
        rewards: rewards of the places.
    """

    def __init__(self, played: GamesWithPlaces, levels: int, rewards: Rewards) -> None:
        dealt = played.games.dealt
        left = np.broadcast_to(np.array(rewards)[played.places - 1][:, None], (*dealt.shape, 4))[dealt]
        self._means: list[NDArray[np.float64]] = []
        for cells, size in zip(cells_of(played.games)[:levels], _SIZES, strict=False):
            counted = cells[dealt]
            players = np.bincount(counted.ravel(), minlength=size)
            sums = np.bincount(counted.ravel(), left.ravel(), minlength=size)
            means = sums / np.maximum(players + (_SHRINKAGE if self._means else 0.0), 1.0)
            left = left - means[counted]
            self._means.append(means)

    def expected(self, games: PaddedGames) -> NDArray[np.float64]:
        """``[G, T, 4]`` rewards, as `policies.reward.predict` returns them."""
        total = np.zeros((*games.starts.shape, 4))
        for means, cells in zip(self._means, cells_of(games), strict=False):
            total += means[cells]
        return total


def cells_of(games: PaddedGames) -> tuple[Cells, Cells]:
    """The cells of both levels, the coarse one first."""
    scores = games.starts["scores"].astype(np.int64)
    last = np.where(games.hanchan, LAST_ROUND["hanchan"], LAST_ROUND["tonpuu"])
    past = np.clip(games.starts["round_index"] - last[:, None], _FIRST, _LAST) - _FIRST
    places = places_of(scores) - 1
    coarse = past[..., None] * 4 + places
    gaps = np.digitize(-np.diff(-np.sort(-scores, axis=-1), axis=-1), _GAPS)
    none = np.zeros_like(gaps[..., :1])
    above = np.take_along_axis(np.concatenate((none, gaps), axis=-1), places, axis=-1)
    below = np.take_along_axis(np.concatenate((gaps, none), axis=-1), places, axis=-1)
    return coarse, (coarse * _BUCKETS + above) * _BUCKETS + below
