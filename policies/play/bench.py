"""`suzaku bench decision`: how long a policy takes per decision, one position at a time as in play."""

from __future__ import annotations

import platform
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

import msgspec
import numpy as np

from game.observation import Observation
from game.table.table import Table
from kit.options import Count
from kit.workers.ordered import default_workers
from policies.features.table import LITE, LITE_CALL, SUPHX, SUPHX_CALL
from policies.flow.decisions import Source
from policies.flow.known_hand import known_questions
from policies.flow.slots import Policy, Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.nets.architectures import DISCARDS, YES_NO, Outputs, Weights, architecture_of
from policies.nets.compute import IN_PLAY, Compute
from policies.nets.shapes import shapes_of
from policies.play.decision import decide
from policies.play.inference import Averaging, Model, NetworkPolicy

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


class _Times:
    """Wall-clock and CPU seconds of each of a number of operations."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.core: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        clock, core = time.perf_counter(), time.thread_time()
        yield
        self.core.append(time.thread_time() - core)
        self.clock.append(time.perf_counter() - clock)

    def waiting(self, name: str) -> DecisionLatency:
        median, slow, most = _milliseconds(self.clock, (50, 99, 100))
        return DecisionLatency(name, len(self.clock), median, slow, most, *_milliseconds(self.core, (50, 99)))


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


def bench_decisions(policy: Policy, name: str, *, count: int = 1000, seed: int = 0) -> DecisionBench:
    """Let a policy decide in positions from games played by the heuristic.

    Args:
        policy: the policy to measure.
        name: its name.
        count: number of decisions.
        seed: seed of the walls.
    """
    timed = _Timed(policy)
    for _ in range(_WARM_UPS):
        for question in known_questions():
            policy.answer(question.slot, [question])
    whole = _Times()
    for observation in _observations(count, seed):
        with whole.measured():
            decide(observation, timed)
    return DecisionBench(
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        cores=default_workers(),
        policy=name,
        decisions=whole.waiting("decision"),
        slots=tuple(timed.times[slot].waiting(slot) for slot in Slot if slot in timed.times),
    )


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


def untrained_policy(
    networks: UntrainedNetworks, averaging: Averaging, seed: int = 0, compute: Compute = IN_PLAY
) -> NetworkPolicy:
    """A policy of untrained networks.

    Args:
        networks: their kind and size.
        averaging: suit permutations averaged over in every position.
        seed: seed of the weights.
        compute: how the networks compute.
    """
    dice = np.random.default_rng(seed)
    models = {}
    for slot in Slot:
        seen = networks.features if slot in (Slot.DISCARD, Slot.RIICHI) else _CALL_SETS[networks.features]
        outputs: Outputs = DISCARDS if slot is Slot.DISCARD else YES_NO
        shape = architecture_of(networks.tower, seen, outputs, networks.width, networks.depth)
        # squares: a variance is not negative
        arrays = {
            name: dice.standard_normal(size, np.float32) ** 2 for name, size in shapes_of(shape).items()
        }
        models[slot] = Model(Weights(shape, arrays), seen, compute=compute)
    return NetworkPolicy(models, averaging)


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


def _observations(count: int, seed: int) -> Iterator[Observation]:
    """Positions with a choice, from successive games of the heuristic."""
    policy, met = HeuristicPolicy(), 0
    while met < count:
        table = Table(seed)
        seed += 1
        while not table.done and met < count:
            actions = {}
            for player in table.waiting():
                observation = table.observe(player)
                if len(observation.legal) > 1 and met < count:
                    met += 1
                    yield observation
                actions[player] = decide(observation, policy).action
            table.step(actions)


def _milliseconds(seconds: Sequence[float], hundredths: Sequence[int]) -> list[float]:
    return [round(1000 * float(t), 3) for t in np.percentile(seconds, hundredths)]
