"""Decisions of real and of random games: records, players, and the possible calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from game.actions import ActionKind
from game.events import GameEvent
from game.layout import PHASE_CALLED, PHASE_TURN, ROUND_STATE
from game.rules import legal_rows
from game.state import apply, new_round
from game.table.table import Table, masked
from replays.mjlog.reader import read_record
from tests.policies.features.permuting import ascending, permute_tiles
from tests.shared import shard_texts

CALLS = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN, ActionKind.ANKAN, ActionKind.KAKAN)


class Positions(NamedTuple):
    """``[N]`` records with all hands, the same as the player sees them, ``[N]`` players, and legal rows."""

    states: NDArray[Any]
    seen: NDArray[Any]
    players: NDArray[np.int8]
    rows: list[NDArray[np.int16]]

    def every(self, step: int) -> Positions:
        return Positions(self.states[::step], self.seen[::step], self.players[::step], self.rows[::step])

    def candidates(self) -> tuple[NDArray[Any], NDArray[np.int8], NDArray[np.int16]]:
        """States, players and rows of the possible calls."""
        found = [
            (state, player, row)
            for state, player, rows in zip(self.states, self.players, self.rows, strict=True)
            for row in rows
            if row[0] in CALLS
        ]
        states, players, calls = zip(*found, strict=True)
        return np.array(list(states), ROUND_STATE), np.array(players, np.int8), np.array(calls, np.int16)


def decisions(events: Iterable[GameEvent]) -> Iterator[tuple[np.void, np.void, int, NDArray[np.int16]]]:
    """Every moment at which a player has a decision."""
    full = new_round()
    seen = [new_round() for _ in range(4)]
    rows = np.empty((48, 6), np.int16)
    for event in events:
        apply(full, event)
        for player in range(4):
            apply(seen[player], masked(event, player))
        for player in range(4):
            count = legal_rows(full, player, rows)
            if count and (full["phase"] in (PHASE_TURN, PHASE_CALLED) or count > 1):
                yield full.copy(), seen[player].copy(), player, rows[:count].copy()


def collect(games: Iterable[Iterable[GameEvent]]) -> Positions:
    states, seen, players, rows = zip(*(d for game in games for d in decisions(game)), strict=True)
    return Positions(
        np.array(list(states), ROUND_STATE),
        np.array(list(seen), ROUND_STATE),
        np.array(players, np.int8),
        list(rows),
    )


@cache
def real_positions(games: int) -> Positions:
    """All decisions of the first real games."""
    return collect(read_record(text).events for _, text in shard_texts("houou-00", games))


@cache
def random_positions(games: int, seed: int = 0) -> Positions:
    """Decisions of games whose players call, declare and discard at random, but win whenever they can."""
    return collect(random_game(seed + number) for number in range(games))


def random_game(seed: int) -> list[GameEvent]:
    """The events of such a game."""
    rng = np.random.default_rng(seed)
    table = Table(seed=seed, length="tonpuu")
    while not table.done:
        actions = {}
        for player in table.waiting():
            legal = table.legal(player)
            actions[player] = (
                legal[0] if legal[0].kind >= ActionKind.TSUMO else legal[rng.integers(len(legal))]
            )
        table.step(actions)
    return table.events


def permuted_calls(calls: NDArray[np.int16], numbers: ArrayLike) -> NDArray[np.int16]:
    """Permuted rows of `game.rules.legal_rows`, ``[N, 6]``; the consumed tiles are again ascending."""
    out = calls.copy()
    out[:, 1:] = permute_tiles(calls[:, 1:], numbers)
    out[:, 2:] = ascending(out[:, 2:])
    return out
