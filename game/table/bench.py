"""Speed of the table and its building blocks on one core, and their agreement with other libraries."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from mahjong.shanten import Shanten
from numpy.typing import NDArray

from game.shanten import discard_table, shanten_batch, ukeire, waits
from game.table.engine import play_bare
from game.table.table import Table
from kit.jit import kernel

_MELDS: Final = (0.70, 0.17, 0.09, 0.03, 0.01)
"""Share of hands with 0-4 melds, roughly as in mid-game."""
_TURNS: Final = 17


class RulesSpeed(msgspec.Struct, frozen=True):
    """Work done per second of one core, over several runs of the same work.

    Attributes:
        name: What was measured.
        unit: What is counted.
        runs: Units per second of each run.
        minimum: The slowest run.
        median: The median run.
        maximum: The fastest run.
    """

    name: str
    unit: str
    runs: tuple[float, ...]
    minimum: float
    median: float
    maximum: float


class Agreement(msgspec.Struct, frozen=True):
    """How often two ways to compute the same thing agree.

    Attributes:
        name: What was compared.
        cases: Number of cases.
        different: Number of cases with two different answers.
        example: The first such case in words; empty if there is none.
    """

    name: str
    cases: int
    different: int
    example: str


class Hands(NamedTuple):
    """Hands to measure with: ``[N, 34]`` int8 concealed tiles by kind, and ``[N]`` int8 meld counts."""

    hands34: NDArray[np.int8]
    meld_counts: NDArray[np.int8]


def measure(
    name: str,
    unit: str,
    count: int,
    work: Callable[[], object],
    *,
    repeats: int = 7,
    clock: Callable[[], float] = time.thread_time,
) -> RulesSpeed:
    """Time a piece of work, after one uncounted run.

    Args:
        name: What is measured.
        unit: What is counted.
        count: Units of work in one run.
        work: The run.
        repeats: Runs to time.
        clock: Returns seconds; the default is this thread's CPU time, which other programs do not affect.
    """
    work()
    runs = []
    for _ in range(repeats):
        start = clock()
        work()
        runs.append(count / (clock() - start))
    return RulesSpeed(name, unit, tuple(runs), min(runs), statistics.median(runs), max(runs))


def bench_shanten(hands: int = 50_000, repeats: int = 7, seed: int = 0) -> list[RulesSpeed]:
    """Speed of the shanten kernels on hands typical of play: batched shanten first, then the others."""
    waiting, drawn = played_hands(hands, 1, seed), played_hands(hands // 10, 2, seed)
    both = played_hands(hands, 0, seed)
    out = np.empty(hands, np.int8)
    return [
        measure("shanten", "hands", hands, lambda: shanten_batch(*both, out), repeats=repeats),
        measure("waits", "hands", hands, lambda: _waits_of(*waiting), repeats=repeats),
        measure("ukeire", "hands", hands, lambda: _ukeire_of(*waiting), repeats=repeats),
        measure("discard table", "hands", hands // 10, lambda: _tables_of(*drawn), repeats=repeats),
    ]


def compare_shanten(hands: int = 100_000, seed: int = 0) -> Agreement:
    """Compare with the `mahjong` library: hands from play, random hands, and hands of one or two suits."""
    samples = [
        played_hands(hands // 2, 0, seed),
        dealt_hands(hands // 4, (34,), seed + 1),
        dealt_hands(hands - hands // 2 - hands // 4, (9, 16, 18), seed + 2),
    ]
    hands34 = np.concatenate([each.hands34 for each in samples])
    meld_counts = np.concatenate([each.meld_counts for each in samples])
    ours = np.empty(hands, np.int8)
    shanten_batch(hands34, meld_counts, ours)
    different, example = 0, ""
    for hand34, melds, our in zip(hands34.tolist(), meld_counts.tolist(), ours.tolist(), strict=True):
        theirs = Shanten.calculate_shanten(hand34, use_chiitoitsu=melds == 0, use_kokushi=melds == 0)
        if theirs != our:
            different += 1
            example = example or f"{hand34} with {melds} melds: {our}, mahjong gives {theirs}"
    return Agreement("shanten against mahjong", hands, different, example)


def played_hands(count: int, extra: int, seed: int) -> Hands:
    """Hands at a random turn of a player who always keeps the most accepted tiles.

    Args:
        count: Number of hands.
        extra: 1 for 3n+1 tiles, 2 for 3n+2, 0 for a mix of both.
        seed: The same seed gives the same hands.
    """
    rng = np.random.default_rng(seed)
    meld_counts = rng.choice(5, size=count, p=_MELDS).astype(np.int8)
    extras = rng.integers(1, 3, size=count) if extra == 0 else np.full(count, extra)
    turns = rng.integers(0, _TURNS, size=count)
    walls = np.tile(np.arange(136, dtype=np.int16), (count, 1))
    rng.permuted(walls, axis=1, out=walls)
    hands34 = np.zeros((count, 34), np.int8)
    _play(walls, meld_counts, turns, extras, hands34)
    return Hands(hands34, meld_counts)


def dealt_hands(count: int, kinds: tuple[int, ...], seed: int) -> Hands:
    """Hands drawn straight from the wall, each using only the first k kinds for a random k in ``kinds``."""
    rng = np.random.default_rng(seed)
    meld_counts = rng.integers(0, 5, size=count).astype(np.int8)
    hands34 = np.zeros((count, 34), np.int8)
    for hand34, melds in zip(hands34, meld_counts, strict=True):
        tiles = rng.choice(4 * rng.choice(kinds), size=13 - 3 * melds + rng.integers(0, 2), replace=False)
        np.add.at(hand34, tiles >> 2, 1)
    return Hands(hands34, meld_counts)


@kernel
def _play(
    walls: NDArray[np.int16],
    meld_counts: NDArray[np.int8],
    turns: NDArray[np.int64],
    extras: NDArray[np.int64],
    hands34: NDArray[np.int8],
) -> None:
    distances = np.empty(34, np.int8)
    masks = np.empty(34, np.uint64)
    copies = np.empty(34, np.int16)
    for row in range(len(walls)):
        hand34, melds = hands34[row], int(meld_counts[row])
        unseen34 = np.full(34, 4, np.int8)
        dealt = 13 - 3 * melds
        draws = turns[row] + (extras[row] == 2)
        for at in range(dealt + draws):
            kind = walls[row, at] >> 2
            hand34[kind] += 1
            unseen34[kind] -= 1
            if dealt <= at < dealt + turns[row]:
                discard_table(hand34, melds, unseen34, distances, masks, copies)
                hand34[np.argmin(200.0 * distances - copies)] -= 1


@kernel
def _waits_of(hands34: NDArray[np.int8], meld_counts: NDArray[np.int8]) -> Any:
    seen: Any = np.uint64(0)
    for row in range(len(hands34)):
        seen |= waits(hands34[row], int(meld_counts[row]))
    return seen


@kernel
def _ukeire_of(hands34: NDArray[np.int8], meld_counts: NDArray[np.int8]) -> int:
    unseen34 = np.full(34, 4, np.int8)
    total = 0
    for row in range(len(hands34)):
        total += ukeire(hands34[row], int(meld_counts[row]), unseen34)[2]
    return total


@kernel
def _tables_of(hands34: NDArray[np.int8], meld_counts: NDArray[np.int8]) -> None:
    unseen34 = np.full(34, 4, np.int8)
    distances = np.empty(34, np.int8)
    masks = np.empty(34, np.uint64)
    copies = np.empty(34, np.int16)
    for row in range(len(hands34)):
        discard_table(hands34[row], int(meld_counts[row]), unseen34, distances, masks, copies)


def bench_table(games: int = 10, repeats: int = 5, seed: int = 0) -> list[RulesSpeed]:
    """Whole hanchan of random moves, in steps per second of one core.

    In one step every player asked answers. The second line includes our events and legal actions; the third
    also folds the state after every step.
    """
    return [
        _speed("riichienv alone", play_bare, games, repeats, seed),
        _speed("table", _play_hanchan, games, repeats, seed),
        _speed("table with state", partial(_play_hanchan, folding=True), games, repeats, seed),
    ]


def engine_view(table: Table, player: int) -> Any:
    """The engine's own view of a player who is asked now, with its ``encode`` and ``encode_extended``."""
    return table.engine.observation(player)


def _speed(name: str, play: Callable[[int], int], games: int, repeats: int, seed: int) -> RulesSpeed:
    def work() -> int:
        return sum(play(seed + game) for game in range(games))

    return measure(name, "steps", work(), work, repeats=repeats)


def _play_hanchan(seed: int, *, folding: bool = False) -> int:
    rng = random.Random(seed)  # noqa: S311 - moves, not secrets
    table = Table(seed)
    steps = 0
    while not table.done:
        if folding:
            _ = table.state
        table.step({player: rng.choice(table.legal(player)) for player in table.waiting()})
        steps += 1
    return steps
