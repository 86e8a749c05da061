"""Speed of the table, compared with the bare engine in the same run."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from game.engine import play_bare
from game.rules_bench import RulesSpeed, measure
from game.table import Table


def bench_table(games: int = 10, repeats: int = 5, seed: int = 0) -> list[RulesSpeed]:
    """Whole hanchan of random moves, in steps per second of one core.

    In one step every player asked answers. The second line includes our events and legal actions; the third
    also folds the state after every step.
    """
    return [
        _speed("riichienv alone", play_bare, games, repeats, seed),
        _speed("table", _play, games, repeats, seed),
        _speed("table with state", partial(_play, folding=True), games, repeats, seed),
    ]


def engine_view(table: Table, player: int) -> Any:
    """The engine's own view of a player who is asked now, with its ``encode`` and ``encode_extended``."""
    return table._round._engine.observation(player)


def _speed(name: str, play: Callable[[int], int], games: int, repeats: int, seed: int) -> RulesSpeed:
    def work() -> int:
        return sum(play(seed + game) for game in range(games))

    return measure(name, "steps", work(), work, repeats=repeats)


def _play(seed: int, *, folding: bool = False) -> int:
    rng = random.Random(seed)  # noqa: S311 - moves, not secrets
    table = Table(seed)
    steps = 0
    while not table.done:
        if folding:
            _ = table.state
        table.step({player: rng.choice(table.legal(player)) for player in table.waiting()})
        steps += 1
    return steps
