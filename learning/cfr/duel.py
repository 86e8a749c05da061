"""`suzaku duel`: two players over the same deals in both seats, in any number of processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from game.two_player.layout import PLAYERS, POSITION, TILES, shuffle
from kit.errors import ConfigError
from kit.files import expand_home
from kit.jit import kernel, warms_up
from kit.options import INTERNAL, Seed
from kit.workers.ordered import default_workers
from kit.workers.pool import Done, Work
from learning.cfr.deal_tree import deal_series
from learning.cfr.node_table import NODES_FILE, read_table
from learning.runs.spread import spread
from learning.runs.statistics import Estimate, estimate, ratio, resample
from policies.two_player.abstraction import KEYS, POLICIES, POLICY_NAMES
from policies.two_player.playing import BY_TABLE, COMMITMENT, RANDOM_ACTIONS, play_duel

_DEALS_AT_ONCE: Final = 2_000
_MOST_SETS: Final = 2_000
"""The intervals resample this many groups of deals at most."""


class DuelPlan(msgspec.Struct, frozen=True):
    """A duel.

    Attributes:
        players: two, by name.
        deals: deals; each is played in both seats.
        seed: seed of deals and choices.
    """

    players: Annotated[tuple[str, str], INTERNAL]
    deals: Annotated[int, Meta(ge=1, le=10_000_000)] = 10_000
    seed: Seed = 0


class DuelReport(msgspec.Struct, frozen=True):
    """The results for the first player.

    Attributes:
        players: their names.
        deals: each played twice.
        games: played.
        seed: of the deals and draws.
        points: a game, with a 95 % interval from resampling deals.
        wins: share of games won.
        losses: share of games lost.
        exhausted: share of games in which the wall ran out.
        double_wins: share of the wins that paid 2 points.
        double_losses: the same of the losses.
        as_first: points a game when drawing first.
        as_second: points a game when drawing second.
        workers: processes.
        seconds: for the games, starting the processes included.
        games_per_s: from the first result to the last, so without starting; None for very few games.
    """

    players: tuple[str, str]
    deals: int
    games: int
    seed: int
    points: Estimate
    wins: float
    losses: float
    exhausted: float
    double_wins: float
    double_losses: float
    as_first: float
    as_second: float
    workers: int
    seconds: float
    games_per_s: float | None

    def __str__(self) -> str:
        """The report for people."""
        one, other = self.players
        points = self.points
        speed = f", {self.games_per_s:,.0f} games/s" if self.games_per_s else ""
        return "\n".join(
            [
                f"{one} against {other}: {self.deals:,} deals in both seats, seed {self.seed}",
                f"points a game  {points.value:+.4f}  (95 %: {points.low:+.4f} to {points.high:+.4f})",
                f"drawing first  {self.as_first:+.4f}, second {self.as_second:+.4f}",
                f"won            {self.wins:6.2%}, of these for 2 points {self.double_wins:6.2%}",
                f"lost           {self.losses:6.2%}, of these for 2 points {self.double_losses:6.2%}",
                f"wall ran out   {self.exhausted:6.2%}",
                f"{self.games:,} games in {self.seconds:.1f} s, processes: {self.workers}{speed}",
            ]
        )


def play_duels(plan: DuelPlan, *, workers: int | None = None) -> DuelReport:
    """Play the games of a plan; the results do not depend on the number of processes.

    Raises:
        ConfigError: there is no such player.
        CheckpointError: a table cannot be used.
        WorkerFailed: a process could not continue.
    """
    for name in plan.players:
        duel_player(name)
    workers = min(workers or default_workers(), -(-plan.deals // _DEALS_AT_ONCE))
    points = np.zeros((plan.deals, PLAYERS), np.int8)
    begun = time.monotonic()
    first_result, later = 0.0, 0
    tasks = range(0, plan.deals, _DEALS_AT_ONCE)
    for first, result in spread(_prepare, plan, tasks, workers=workers, here=True):
        if isinstance(result, Done):
            continue
        points[first : first + len(result)] = result
        if first_result:
            later += result.size
        first_result = first_result or time.monotonic()
    ended = time.monotonic()
    speed = later / (ended - first_result) if later else None
    return _report(plan, points, workers, ended - begun, speed)


def _prepare(plan: DuelPlan) -> Work[int, NDArray[np.int8]]:
    one, other = (duel_player(name) for name in plan.players)

    def play(first: int) -> Iterator[NDArray[np.int8]]:
        yield series(one, other, plan.seed, first, min(_DEALS_AT_ONCE, plan.deals - first))

    return play


def series(one: DuelPlayer, other: DuelPlayer, seed: int, first: int, count: int) -> NDArray[np.int8]:
    """Play some deals in both seats.

    Returns:
        ``[count, 2]`` int8, points of ``one`` drawing first, and drawing second.
    """
    points = np.zeros((count, PLAYERS), np.int8)
    ways, weights = (one.way, other.way), (one.weights, other.weights)
    _play_series(ways, weights, deal_series(seed, training=False), first, points)
    return points


@kernel
def _play_series(
    ways: tuple[int, int], weights: Any, seed: int, first: int, points: NDArray[np.int8]
) -> None:
    position, commitment = np.zeros(1, POSITION), np.zeros(1, COMMITMENT)
    wall = np.zeros(TILES, np.int8)
    for row in range(len(points)):
        number = first + row
        shuffle(seed, number, wall)
        points[row, 0] = play_duel(position[0], wall, commitment[0], ways, weights, seed, 2 * number)
        exchanged = (weights[1], weights[0])
        points[row, 1] = -play_duel(
            position[0], wall, commitment[0], (ways[1], ways[0]), exchanged, seed, 2 * number + 1
        )


def _report(
    plan: DuelPlan, points: NDArray[np.int8], workers: int, seconds: float, speed: float | None
) -> DuelReport:
    sets = min(len(points), _MOST_SETS)
    of_set = np.arange(len(points)) * sets // len(points)
    sums = np.zeros((sets, 2))
    np.add.at(sums, of_set, np.stack([points.sum(axis=1), np.full(len(points), PLAYERS)], axis=1))
    wins, losses = (points > 0).sum(), (points < 0).sum()
    return DuelReport(
        plan.players,
        plan.deals,
        points.size,
        plan.seed,
        estimate(sums, resample(sums, seed=plan.seed), ratio(0, 1)),
        float(wins / points.size),
        float(losses / points.size),
        float((points == 0).mean()),
        float((points == 2).sum() / max(1, wins)),
        float((points == -2).sum() / max(1, losses)),
        float(points[:, 0].mean()),
        float(points[:, 1].mean()),
        workers,
        seconds,
        speed,
    )


UNIFORM: Final = "uniform"
RANDOM: Final = "random"
CURRENT: Final = "current:"
"""Before a table: its current strategy, by regret matching, instead of the average one."""


class DuelPlayer(NamedTuple):
    """A player as the kernels take it.

    Attributes:
        name: as given.
        way: a policy, `RANDOM_ACTIONS` or `BY_TABLE`.
        weights: ``[KEYS, 3]`` float64, as for `policies.two_player.playing.match_regrets`.
    """

    name: str
    way: int
    weights: NDArray[np.float64]


def duel_player(name: str) -> DuelPlayer:
    """Load a player.

    Args:
        name: normal, triplets, pairs, uniform, random, or a node table of `suzaku train cfr`: the file or
            its folder, with ``current:`` before it for the current strategy.

    Raises:
        ConfigError: there is no such player.
        CheckpointError: the table cannot be used.
    """
    if name in POLICY_NAMES:
        return DuelPlayer(name, POLICY_NAMES.index(name), _no_weights())
    if name == RANDOM:
        return DuelPlayer(name, RANDOM_ACTIONS, _no_weights())
    if name == UNIFORM:
        return DuelPlayer(name, BY_TABLE, _no_weights())
    return DuelPlayer(name, BY_TABLE, table_weights(name))


def table_weights(name: str) -> NDArray[np.float64]:
    """``[KEYS, 3]``: the strategy of a table, named as for `duel_player`.

    Raises:
        ConfigError: there is no such file or folder.
        CheckpointError: it cannot be used.
    """
    path = expand_home(name.removeprefix(CURRENT))
    if not path.exists():
        known = ", ".join((*POLICY_NAMES, UNIFORM, RANDOM))
        raise ConfigError(f"{name}: no such player; use {known}, or a table made by `suzaku train cfr`")
    _, sums, _ = read_table(_table_file(path))
    return sums.regrets if name.startswith(CURRENT) else sums.strategies


def _table_file(path: Path) -> Path:
    return path / NODES_FILE if path.is_dir() else path


def _no_weights() -> NDArray[np.float64]:
    return np.zeros((KEYS, POLICIES))


@warms_up
def _warm_up() -> None:
    player = duel_player(UNIFORM)
    series(player, player, 0, 0, 1)
