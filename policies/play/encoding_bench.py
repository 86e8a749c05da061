"""`suzaku bench features`: encodings per second on one core, and the encoding time of a single decision."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.layout import ROUND_STATE
from game.rules import action_row
from game.table.bench import RulesSpeed, engine_view, measure
from game.table.table import Table
from policies.features.encode import encode
from policies.features.permute import PERMUTATIONS, permute_planes
from policies.features.table import KINDS, LITE, LITE_CALL, SETS, SUPHX, SUPHX_CALL
from policies.heuristic.player import HeuristicPolicy
from policies.play.decision import decide

_CALLS = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN, ActionKind.ANKAN, ActionKind.KAKAN)
_BATCH = 256
"""Rows encoded at once, as in training; they fit into the core's cache."""


class Latency(msgspec.Struct, frozen=True):
    """Encoding time of a single decision.

    Attributes:
        name: the feature set.
        median_ms: median over all decisions, one at a time.
        p99_ms: 99th percentile.
    """

    name: str
    median_ms: float
    p99_ms: float


class FeatureBench(msgspec.Struct, frozen=True):
    """The results of `suzaku bench features`.

    Attributes:
        machine: what it ran on.
        decisions: number measured, from games of the heuristic at our table.
        calls: candidate melds among them.
        speeds: per second on one core.
        latencies: at N = 1.
    """

    machine: str
    decisions: int
    calls: int
    speeds: tuple[RulesSpeed, ...]
    latencies: tuple[Latency, ...]


class EncoderInputs(NamedTuple):
    """``[N]`` states and players, ``[M]`` candidate melds with theirs, ``[N]`` views of the engine."""

    states: NDArray[Any]
    players: NDArray[np.int8]
    call_states: NDArray[Any]
    call_players: NDArray[np.int8]
    calls: NDArray[np.int16]
    views: list[Any]


def bench_features(games: int = 4, repeats: int = 5, seed: int = 0) -> FeatureBench:
    """Encode every decision of some hanchan of the heuristic, and compare with the engine's encoders."""
    met = played_decisions(games, seed)
    count = len(met.states)

    def speed(name: str, work: Callable[[], object], amount: int = count) -> RulesSpeed:
        return measure(name, "encodings", amount, work, repeats=repeats)

    speeds = (
        speed(LITE, lambda: _encode_all(met.states, met.players, LITE)),
        speed(f"{LITE}, tiles permuted", lambda: _encode_and_permute(met)),
        speed(f"{SUPHX}, not searched deep", lambda: _encode_all(met.states, met.players, SUPHX, deep=False)),
        speed(SUPHX, lambda: _encode_all(met.states, met.players, SUPHX)),
        speed(LITE_CALL, lambda: _encode_calls(met, LITE_CALL), len(met.calls)),
        speed(SUPHX_CALL, lambda: _encode_calls(met, SUPHX_CALL), len(met.calls)),
        speed("riichienv, 74 planes", lambda: [view.encode() for view in met.views]),
        speed("riichienv, 215 planes", lambda: [view.encode_extended() for view in met.views]),
    )
    return FeatureBench(
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        decisions=count,
        calls=len(met.calls),
        speeds=speeds,
        latencies=(_latency(met, LITE), _latency(met, SUPHX)),
    )


def played_decisions(games: int, seed: int) -> EncoderInputs:
    """Every decision of whole games of the heuristic."""
    states, askers, views = list[np.void](), list[int](), list[Any]()
    calls, owners = list[list[int]](), list[int]()
    for table, player, legal in _asked(games, seed):
        for action in legal:
            if action.kind in _CALLS:
                calls.append(action_row(action))
                owners.append(len(states))
        states.append(table.state.copy())
        askers.append(player)
        views.append(engine_view(table, player))
    records, players = np.array(states, ROUND_STATE), np.array(askers, np.int8)
    return EncoderInputs(
        records, players, records[owners], players[owners], np.array(calls, np.int16).reshape(-1, 6), views
    )


def _asked(games: int, seed: int) -> Iterator[tuple[Table, int, list[Action]]]:
    policy = HeuristicPolicy()
    for game in range(games):
        table = Table(seed + game)
        while not table.done:
            actions = {}
            for player in table.waiting():
                legal = table.legal(player)
                yield table, player, legal
                actions[player] = decide(table.observe(player), policy).action
            table.step(actions)


def _batches(count: int) -> Iterator[slice]:
    return (slice(start, start + _BATCH) for start in range(0, count, _BATCH))


def _encode_all(states: NDArray[Any], players: NDArray[np.int8], name: str, *, deep: bool = True) -> None:
    room = np.empty((_BATCH, SETS[name].planes, KINDS), np.uint8)
    for rows in _batches(len(states)):
        part = states[rows]
        encode(part, players[rows], name, room[: len(part)], deep=deep)


def _encode_and_permute(met: EncoderInputs) -> None:
    numbers = np.arange(_BATCH) % PERMUTATIONS
    room = np.empty((_BATCH, SETS[LITE].planes, KINDS), np.uint8)
    permuted = np.empty_like(room)
    for rows in _batches(len(met.states)):
        part = met.states[rows]
        encode(part, met.players[rows], LITE, room[: len(part)])
        permute_planes(room[: len(part)], LITE, numbers[: len(part)], permuted[: len(part)])


def _encode_calls(met: EncoderInputs, name: str) -> None:
    room = np.empty((_BATCH, SETS[name].planes, KINDS), np.uint8)
    for rows in _batches(len(met.calls)):
        part = met.calls[rows]
        encode(met.call_states[rows], met.call_players[rows], name, room[: len(part)], calls=part)


def _latency(met: EncoderInputs, name: str) -> Latency:
    room = np.empty((1, SETS[name].planes, KINDS), np.uint8)
    times = []
    for row, player in enumerate(met.players.tolist()):
        start = time.perf_counter()
        encode(met.states[row : row + 1], player, name, room)
        times.append(time.perf_counter() - start)
    median, slow = np.percentile(times, (50, 99))
    return Latency(name, round(1000 * float(median), 4), round(1000 * float(slow), 4))
