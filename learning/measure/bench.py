"""`suzaku bench`: the speed of the feature encoders, of decisions, of self-play and of training."""

from __future__ import annotations

import platform
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, cycle, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import ActionKind
from game.layout import ROUND_STATE
from game.rules import action_row
from game.table.table import Table
from kit.options import Count
from kit.workers.ordered import default_workers
from learning.selfplay.arena.plan import ArenaPlan, sets_for
from learning.selfplay.players import contender
from learning.selfplay.series import BLOCK_GAMES, play_series
from policies.features.encode import encode
from policies.features.permute import PERMUTATIONS, permute_planes
from policies.features.table import KINDS, LITE, LITE_CALL, SETS, SUPHX, SUPHX_CALL
from policies.flow.decisions import Source
from policies.flow.known_hand import known_questions
from policies.flow.slots import Policy, Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.nets.architectures import DISCARDS, YES_NO, Outputs, Weights, architecture_of
from policies.nets.compute import IN_PLAY, Compute
from policies.nets.shapes import shapes_of
from policies.play.decide import decide
from policies.play.inference import Averaging, Model, NetworkPolicy

if TYPE_CHECKING:
    from learning.data.loader import Batch, Loader
    from learning.train.plan import TrainingPlan

_PYTHON: Final = f"{platform.machine()}, Python {platform.python_version()}"
"""What it ran on."""


def _decisions(seed: int) -> Iterator[tuple[int, Table, int]]:
    """Every decision of the heuristic: the number of the game, its table, and the player who is asked."""
    policy = HeuristicPolicy()
    for game in count():
        table = Table(seed + game)
        while not table.done:
            actions = {}
            for player in table.waiting():
                yield game, table, player
                actions[player] = decide(table.observe(player), policy).action
            table.step(actions)


def _milliseconds(seconds: Sequence[float], hundredths: Sequence[int], digits: int = 3) -> list[float]:
    return [round(1000 * float(t), digits) for t in np.percentile(seconds, hundredths)]


# --- features ------------------------------------------------------------------------------------------

_CALLS: Final = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN, ActionKind.ANKAN, ActionKind.KAKAN)
_BATCH: Final = 256
"""Rows encoded at once, as in training; they fit into the core's cache."""


class EncodingSpeed(msgspec.Struct, frozen=True):
    """Encodings per second of one core, over several runs of the same work."""

    name: str
    unit: str
    runs: tuple[float, ...]
    minimum: float
    median: float
    maximum: float


class EncodingLatency(msgspec.Struct, frozen=True):
    """Time to encode a single decision with a feature set."""

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
        latencies: of one decision at a time.
    """

    machine: str
    decisions: int
    calls: int
    speeds: tuple[EncodingSpeed, ...]
    latencies: tuple[EncodingLatency, ...]


def bench_features(games: int = 4, repeats: int = 5, seed: int = 0) -> FeatureBench:
    """Encode every decision of some hanchan of the heuristic."""
    taken, asked = list[np.void](), list[int]()
    melds, owners = list[list[int]](), list[int]()
    for _, table, player in takewhile(lambda met: met[0] < games, _decisions(seed)):
        rows = [action_row(action) for action in table.legal(player) if action.kind in _CALLS]
        melds += rows
        owners += [len(taken)] * len(rows)
        taken.append(table.state.copy())
        asked.append(player)
    states, players = np.array(taken, ROUND_STATE), np.array(asked, np.int8)
    calls = np.array(melds, np.int16).reshape(-1, 6)
    claims = states[owners], players[owners], calls

    def speed(name: str, work: Callable[[], object], amount: int = len(states)) -> EncodingSpeed:
        work()
        runs = []
        for _ in range(repeats):
            start = time.thread_time()  # which other programs do not affect
            work()
            runs.append(amount / (time.thread_time() - start))
        return EncodingSpeed(name, "encodings", tuple(runs), min(runs), statistics.median(runs), max(runs))

    speeds = (
        speed(LITE, lambda: _encode(LITE, states, players)),
        speed(f"{LITE}, tiles permuted", lambda: _encode(LITE, states, players, permuted=True)),
        speed(f"{SUPHX}, not searched deep", lambda: _encode(SUPHX, states, players, deep=False)),
        speed(SUPHX, lambda: _encode(SUPHX, states, players)),
        speed(LITE_CALL, lambda: _encode(LITE_CALL, *claims), len(calls)),
        speed(SUPHX_CALL, lambda: _encode(SUPHX_CALL, *claims), len(calls)),
    )
    latencies = tuple(_latency(name, states, players) for name in (LITE, SUPHX))
    return FeatureBench(_PYTHON, len(states), len(calls), speeds, latencies)


def _encode(
    name: str,
    states: NDArray[Any],
    players: NDArray[np.int8],
    calls: NDArray[np.int16] | None = None,
    *,
    deep: bool = True,
    permuted: bool = False,
) -> None:
    room = np.empty((_BATCH, SETS[name].planes, KINDS), np.uint8)
    other, numbers = np.empty_like(room), np.arange(_BATCH) % PERMUTATIONS
    for start in range(0, len(states), _BATCH):
        rows = slice(start, start + _BATCH)
        part = states[rows]
        size = len(part)
        those = None if calls is None else calls[rows]
        encode(part, players[rows], name, room[:size], calls=those, deep=deep)
        if permuted:
            permute_planes(room[:size], name, numbers[:size], other[:size])


def _latency(name: str, states: NDArray[Any], players: NDArray[np.int8]) -> EncodingLatency:
    room = np.empty((1, SETS[name].planes, KINDS), np.uint8)
    times = []
    for row, player in enumerate(players.tolist()):
        start = time.perf_counter()
        encode(states[row : row + 1], player, name, room)
        times.append(time.perf_counter() - start)
    return EncodingLatency(name, *_milliseconds(times, (50, 99), 4))


# --- decisions -----------------------------------------------------------------------------------------

_CALL_SETS: Final = {LITE: LITE_CALL, SUPHX: SUPHX_CALL}
"""The feature set of the call models, by the set of the own-turn models."""
_WARM_UPS: Final = 3


class DecisionLatency(msgspec.Struct, frozen=True):
    """Latency of single operations.

    Attributes:
        name: a slot's answers, or whole decisions.
        count: number of operations.
        median_ms: median.
        p99_ms: 99th percentile.
        most_ms: maximum.
        core_median_ms: median CPU time of our thread, independent of other load on the machine.
        core_p99_ms: 99th percentile of that.
    """

    name: str
    count: int
    median_ms: float
    p99_ms: float
    most_ms: float
    core_median_ms: float
    core_p99_ms: float


class DecisionBench(msgspec.Struct, frozen=True):
    """The results of `suzaku bench decision`.

    Attributes:
        machine: what it ran on.
        cores: that the program may use.
        policy: the policy measured.
        decisions: those with more than one legal action, all slots of each together.
        slots: the answers of each slot alone.
    """

    machine: str
    cores: int
    policy: str
    decisions: DecisionLatency
    slots: tuple[DecisionLatency, ...]


class UntrainedNetworks(msgspec.Struct, frozen=True):
    """Networks with random weights: as slow as trained ones.

    Attributes:
        width: measure untrained networks with this many channels.
        depth: measure untrained networks with this many blocks.
        features: measure untrained networks on this feature set; the call models use the matching one.
        tower: measure untrained networks with this tower.
    """

    width: Count = 64
    depth: Count = 6
    features: Literal["lite-239/1", "suphx-838/1"] = "lite-239/1"
    tower: Literal["residual", "pooled", "suits"] = "suits"

    def __str__(self) -> str:
        return f"untrained {self.tower} {self.width}×{self.depth} on {self.features}"

    def policy(self, averaging: Averaging, compute: Compute = IN_PLAY) -> NetworkPolicy:
        """A policy of such networks, which averages over so many suit permutations in every position."""
        rng = np.random.default_rng(0)
        models = {}
        for slot in Slot:
            seen = self.features if slot in (Slot.DISCARD, Slot.RIICHI) else _CALL_SETS[self.features]
            outputs: Outputs = DISCARDS if slot is Slot.DISCARD else YES_NO
            shape = architecture_of(self.tower, seen, outputs, self.width, self.depth)
            # squares: a variance is not negative
            arrays = {
                name: rng.standard_normal(size, np.float32) ** 2 for name, size in shapes_of(shape).items()
            }
            models[slot] = Model(Weights(shape, arrays), seen, compute=compute)
        return NetworkPolicy(models, averaging)


class _Times:
    """Wall-clock and CPU seconds of each of a number of operations."""

    def __init__(self) -> None:
        self._clock: list[float] = []
        self._core: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        clock, core = time.perf_counter(), time.thread_time()
        yield
        self._core.append(time.thread_time() - core)
        self._clock.append(time.perf_counter() - clock)

    def latency(self, name: str) -> DecisionLatency:
        in_all = _milliseconds(self._clock, (50, 99, 100))
        return DecisionLatency(name, len(self._clock), *in_all, *_milliseconds(self._core, (50, 99)))


class _Timed:
    """A policy that records how long each answer took."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.times: defaultdict[Slot, _Times] = defaultdict(_Times)

    @property
    def source(self) -> Source:
        return self._policy.source

    def answer(self, slot: Slot, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        with self.times[slot].measured():
            return self._policy.answer(slot, questions)


def bench_decisions(policy: Policy, name: str, *, number: int = 1000, seed: int = 0) -> DecisionBench:
    """Let a policy decide in so many positions with a choice, from games played by the heuristic."""
    timed, whole = _Timed(policy), _Times()
    for _ in range(_WARM_UPS):
        for question in known_questions():
            policy.answer(question.slot, [question])
    seen = (table.observe(player) for _, table, player in _decisions(seed))
    for observation in islice((each for each in seen if len(each.legal) > 1), number):
        with whole.measured():
            decide(observation, timed)
    slots = tuple(timed.times[slot].latency(slot) for slot in Slot if slot in timed.times)
    return DecisionBench(_PYTHON, default_workers(), name, whole.latency("decision"), slots)


# --- self-play -----------------------------------------------------------------------------------------

PLAYERS: Final = ("network", "heuristic", "random")
TABLES: Final = (1, 8, 16, 32, 64, 128)


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
    """The results of `suzaku bench selfplay`.

    Attributes:
        machine: what it ran on.
        compute: how networks computed.
        seed: seed of all walls.
        speeds: one entry per player, number of processes and number of tables.
    """

    machine: str
    compute: Compute
    seed: int
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
    together = [(each, each * max(games, BLOCK_GAMES), max(tables)) for each in range(2, workers + 1)]
    speeds = tuple(
        _speed(player, amount, processes, side_by_side, seed, compute)
        for player in players
        for processes, amount, side_by_side in [*((1, games, each) for each in tables), *together]
    )
    return SelfPlayBench(platform.processor() or platform.machine(), compute, seed, speeds)


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
    found = play_series(plan, workers=workers)
    parts = sorted(((what, 1000.0 * spent) for what, spent in found.times.items()), key=lambda part: -part[1])
    core_ms = sum(spent for _, spent in parts)
    speed = found.played / found.seconds
    return SelfPlaySpeed(who.name, workers, tables, found.played, speed, core_ms, dict(parts))


# --- training ------------------------------------------------------------------------------------------

_ROUNDS: Final = 5
"""Slices of each of the three, measured in turn, so that a disturbance affects all of them."""
_KEPT: Final = 8
"""Batches in memory for the network alone."""


class TrainingSpeed(msgspec.Struct, frozen=True):
    """Samples per second: the slowest slice, the middle one, the fastest."""

    minimum: float
    median: float
    maximum: float


class TrainingBench(msgspec.Struct, frozen=True):
    """The results of `suzaku bench training`.

    Attributes:
        machine: what it ran on.
        device: the network's device.
        model: one of the five models.
        network: width×depth and precision.
        features: the feature set.
        batch_size: samples per step.
        seed: seed of everything random.
        seconds_a_slice: wall-clock time.
        loader: the loader alone.
        network_alone: steps on batches in memory.
        together: both, as in a run.
        share: `together` as a share of `network_alone`.
    """

    machine: str
    device: str
    model: str
    network: str
    features: str
    batch_size: int
    seed: int
    seconds_a_slice: float
    loader: TrainingSpeed
    network_alone: TrainingSpeed
    together: TrainingSpeed
    share: float


def bench_training(plan: TrainingPlan, folder: Path, *, seconds: float = 10.0) -> TrainingBench:
    """Measure how fast a network learns, and its bottleneck: the loader alone, the network alone, and both.

    Args:
        plan: the training settings.
        folder: folder of the corpus.
        seconds: length of each slice.

    Raises:
        ConfigError: no decision matches the plan's selection.
        ReplayError: there is no complete corpus.
    """
    import torch

    from learning.data.corpus import Corpus
    from learning.data.loader import Loader
    from learning.runs.learner import Learner
    from learning.train.first_weights import first_network
    from learning.train.samples_run import choice_of, device_name, samples_in
    from learning.train.supervised import imitation_loss

    corpus, threads = Corpus(folder), torch.get_num_threads()
    choice = choice_of(plan, corpus, "train")
    samples_in(plan, corpus, choice, "train")
    loader = Loader(
        corpus,
        choice,
        plan.model,
        features=plan.features,
        deep=plan.deep,
        batch_size=plan.batch_size,
        seed=plan.seed,
        augment=plan.augment,
        workers=threads,
    )
    torch.manual_seed(plan.seed)
    learner = Learner(first_network(plan), plan, threads, loss=imitation_loss)
    fresh = _endless(loader)
    kept = list(islice(fresh, _KEPT))

    def learn(batch: Batch) -> object:
        return learner.step(batch, 0, plan.learning_rate)

    alone, network, both = list[float](), list[float](), list[float]()
    _rate(kept, 0.0, learn)  # compiles kernels and allocates memory
    for _ in range(_ROUNDS):
        alone.append(_rate(fresh, seconds, lambda _: None))
        network.append(_rate(cycle(kept), seconds, learn))
        both.append(_rate(fresh, seconds, learn))
    fresh.close()
    learner.close()
    loads, learns, together = (
        TrainingSpeed(min(each), statistics.median(each), max(each)) for each in (alone, network, both)
    )
    return TrainingBench(
        machine=f"{platform.machine()}, {default_workers()} cores, torch {torch.__version__}",
        device=device_name(learner.device, threads),
        model=str(plan.model),
        network=f"{plan.width}×{plan.depth}, {plan.precision}",
        features=plan.features,
        batch_size=plan.batch_size,
        seed=plan.seed,
        seconds_a_slice=seconds,
        loader=loads,
        network_alone=learns,
        together=together,
        share=together.median / learns.median,
    )


def _endless(loader: Loader) -> Generator[Batch]:
    for epoch in count():
        yield from loader.epoch(epoch)


def _rate(batches: Iterable[Batch], seconds: float, use: Callable[[Batch], object]) -> float:
    """Samples per second that are delivered and used."""
    begun, samples = time.perf_counter(), 0
    for batch in batches:
        use(batch)
        samples += len(batch.labels)
        if time.perf_counter() - begun >= seconds:
            break
    return samples / (time.perf_counter() - begun)
