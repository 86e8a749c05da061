"""`suzaku bench selfplay`: hanchan per second by player, processes and tables, and where the time goes."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from itertools import count
from typing import Final

import msgspec

from game.table.engine import play_bare
from learning.arena.plan import ArenaPlan, sets_for
from learning.arena.run import run
from learning.matches.players import contender
from learning.matches.series import BLOCK_GAMES
from policies.nets.compute import IN_PLAY, Compute

PLAYERS: Final = ("network", "heuristic", "random")
TABLES: Final = (1, 8, 16, 32, 64, 128)

_BARE_S: Final = 3.0


class SelfPlaySpeed(msgspec.Struct, frozen=True):
    """One player in all four seats.

    Attributes:
        player: its name.
        workers: processes.
        tables: tables played at a time in each process.
        games: hanchan played.
        games_per_s: by wall-clock time, including the start of the processes.
        core_ms: CPU milliseconds per game.
        parts: breakdown of these by task.
    """

    player: str
    workers: int
    tables: int
    games: int
    games_per_s: float
    core_ms: float
    parts: dict[str, float]


class SelfPlayBench(msgspec.Struct, frozen=True):
    """Figures of `suzaku bench selfplay`.

    Attributes:
        machine: the machine it ran on.
        compute: how networks computed.
        seed: seed of all walls.
        bare_ms: CPU milliseconds for a hanchan of random moves on the rules engine alone.
        speeds: one entry per player, number of processes and number of tables.
    """

    machine: str
    compute: Compute
    seed: int
    bare_ms: float
    speeds: tuple[SelfPlaySpeed, ...]


def bench_selfplay(
    players: Sequence[str],
    *,
    games: int,
    workers: int,
    tables: Sequence[int] = TABLES,
    seed: int = 0,
    compute: Compute = IN_PLAY,
) -> SelfPlayBench:
    """Measure each player with several numbers of tables in one process, then with more processes.

    Args:
        players: as for the arena.
        games: hanchan for each measurement of one process; with several processes each plays this many, but
            at least a whole block.
        workers: maximum number of processes.
        tables: numbers of tables for one process.
        seed: seed of all walls.
        compute: how networks compute.
    """
    bare_ms = _bare_ms(seed)
    speeds = []
    for player in players:
        speeds += [_speed(player, games, 1, side_by_side, seed, compute) for side_by_side in tables]
        for processes in range(2, workers + 1):
            shared = processes * max(games, BLOCK_GAMES)
            speeds.append(_speed(player, shared, processes, max(tables), seed, compute))
    return SelfPlayBench(platform.processor() or platform.machine(), compute, seed, bare_ms, tuple(speeds))


def _speed(player: str, games: int, workers: int, tables: int, seed: int, compute: Compute) -> SelfPlaySpeed:
    who = contender(player)
    plan = ArenaPlan(
        challenger=who,
        champions=who,
        sets=sets_for(games, "1v3"),
        seed=seed,
        tables=tables,
        compute=compute,
    )
    found = run(plan, workers=workers)
    assert found is not None
    parts = {what: 1000.0 * spent for what, spent in found.times.items()}
    return SelfPlaySpeed(
        player=who.name,
        workers=workers,
        tables=tables,
        games=found.played,
        games_per_s=found.games_per_s,
        core_ms=sum(parts.values()),
        parts=dict(sorted(parts.items(), key=lambda part: -part[1])),
    )


def _bare_ms(seed: int) -> float:
    play_bare(seed)
    began = time.process_time()
    for games in count(1):
        play_bare(seed + games)
        spent = time.process_time() - began
        if spent >= _BARE_S:
            break
    return 1000.0 * spent / games
