"""Actors: processes that play blocks of games with a version of the policy, and return their trajectories.

The plan determines the version that plays a block, and a game's number determines its walls and samples. So
a run gives the same numbers with any number of processes, after the loss of an actor, and after a stop.

While the learner learns, a thread of its process distributes chunks of the next blocks, as soon as their
version is published, and collects the games.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np
import safetensors.numpy

from game.table.walls import wall_seed
from game.warmup import warm_up
from kit.errors import WorkerFailed
from kit.processes import give_way
from kit.workers.ordered import default_workers
from kit.workers.pool import LATER, Done, Later, Work
from learning.runs.spread import spread
from learning.selfplay.rl.plan import ReinforcementPlan
from learning.selfplay.series import GameRow, row_of
from policies.checkpoint.files import reader_of
from policies.features.table import GUIDED
from policies.flow.slots import Slot
from policies.nets.architectures import Arrays
from policies.nets.guidance import guided
from policies.play.inference import Model, NetworkPolicy, load_policy
from policies.play.named import Files
from policies.play.rollout import PolicyChooser, Rollout, Seating
from policies.policy_gradient.trajectories import Recorder, Trajectory

_TABLES: Final = 128
"""Tables side by side in a process: more than in the arena, because blocks are large."""
_PATIENCE_S: Final = 0.5
"""Interval at which a waiting learner notices signals."""


class Chunk(msgspec.Struct, frozen=True):
    """Games that one actor plays.

    Attributes:
        block: number of their block.
        numbers: their numbers.
        weights: weights of its discard model, as the bytes of a file.
        gamma: share of the hidden planes that a guided policy sees.
        opponents: weights of the other seats; None for the initial policy.
    """

    block: int
    numbers: range
    weights: bytes
    gamma: float = 0.0
    opponents: bytes | None = None

    def __str__(self) -> str:
        return f"games {self.numbers.start} to {self.numbers.stop - 1}"


class LearnedGame(msgspec.Struct, frozen=True):
    """A game to learn from.

    Attributes:
        trajectory: its decisions; None if the game crashed.
        row: its result.
    """

    trajectory: Trajectory | None
    row: GameRow


def actor(setup: tuple[ReinforcementPlan, Files]) -> Work[Chunk, LearnedGame]:
    """Load the initial policy; return the function that plays a chunk.

    Args:
        setup: plan of the run, and the five checkpoints of the start.
    """
    give_way()  # low priority: the learner's thread should not wait for a core while all actors play
    warm_up()
    plan, files = setup
    start = load_policy(Path(), compute=plan.compute, read=reader_of(files))

    def policy_with(packed: bytes, gamma: float) -> NetworkPolicy:
        weights = safetensors.numpy.load(packed)
        return start.replaced({Slot.DISCARD: model_with(start, weights, plan, gamma)})

    def play(chunk: Chunk) -> Iterator[LearnedGame]:
        recorder = Recorder(
            policy_with(chunk.weights, chunk.gamma),
            temperature=plan.temperature,
            stream=plan.seed,
            thinned=True,
        )
        others = start if chunk.opponents is None else policy_with(chunk.opponents, chunk.gamma)
        opponent = PolicyChooser(others)
        rollout = Rollout([recorder, opponent], tables=_TABLES, length=plan.length)
        for game in rollout.play(seating(plan, number) for number in chunk.numbers):
            yield LearnedGame(None if game.crash else recorder.take(game), row_of(game))

    return play


def model_with(start: NetworkPolicy, weights: Arrays, plan: ReinforcementPlan, gamma: float) -> Model:
    """The discard model of the start with other weights, and with hidden planes if the plan is guided."""
    begun = start.model(Slot.DISCARD)
    if not plan.guided:
        return begun.with_arrays(weights)
    network = guided(begun.weights)._replace(arrays=weights)
    return Model(network, GUIDED, start.cards[Slot.DISCARD].without, plan.compute, gamma)


def seating(plan: ReinforcementPlan, number: int) -> Seating:
    """Walls of game ``number``, and the player of each seat: 0 learns, 1 does not."""
    seed = wall_seed("reinforcement", plan.seed, number)
    if plan.seats == "all":
        return Seating(number, seed, (0, 0, 0, 0))
    first, second, third, fourth = (int(player != number % 4) for player in range(4))
    return Seating(number, seed, (first, second, third, fourth))


def version_for(plan: ReinforcementPlan, block: int) -> int:
    """The version of the policy that plays a block."""
    return max(0, block - plan.lag)


def opponent_for(plan: ReinforcementPlan, block: int) -> int | None:
    """The past version against which a block is played, None for the initial policy."""
    if plan.seats == "all" or plan.opponents == "start":
        return None
    kept = range(0, version_for(plan, block) + 1, plan.past)
    drawn = np.random.default_rng((plan.seed, block, 1)).integers(len(kept))
    return kept[int(drawn)]


_Result: TypeAlias = LearnedGame | Exception | None


class Actors:
    """The games of a run, block by block.

    Args:
        plan: of the run.
        files: the five checkpoints of the start.
        versions: weights of the policy as the bytes of a file; version ``v`` has learned from ``v`` blocks.
            Those of the first block are there; the learner adds later ones while a thread reads.
        first: first block to play.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.
    """

    def __init__(
        self,
        plan: ReinforcementPlan,
        files: Files,
        versions: Mapping[int, bytes],
        *,
        first: int = 0,
        workers: int | None = None,
        ray: str | None = None,
    ) -> None:
        self._plan, self._versions, self._first = plan, versions, first
        self._setup = (plan, files)
        self._workers, self._ray = workers, ray
        self._chunk_games = -(-plan.block_games // (workers or default_workers()))
        self._results: queue.Queue[_Result] = queue.Queue()
        self._stop = threading.Event()
        self._games: defaultdict[int, dict[int, LearnedGame]] = defaultdict(dict)
        self._thread = threading.Thread(target=self._gather, name="actors", daemon=True)
        self._thread.start()

    def block(self, number: int) -> list[LearnedGame]:
        """Wait for the games of a block; return them in their order.

        Raises:
            ConfigError: there is no such cluster.
            WorkerFailed: an actor could not continue.
        """
        games = self._games[number]
        while len(games) < self._plan.block_games:
            try:
                result = self._results.get(timeout=_PATIENCE_S)
            except queue.Empty:
                continue  # a blocking `get` would not notice signals
            if result is None:
                raise WorkerFailed("the actors ended before the block was played")
            if isinstance(result, Exception):
                raise result
            at = result.row.number
            self._games[at // self._plan.block_games].setdefault(
                at, result
            )  # a lost actor's games arrive twice
        return [games[at] for at in sorted(self._games.pop(number))]

    def close(self) -> None:
        """Stop the processes."""
        self._stop.set()
        self._thread.join()

    def _gather(self) -> None:
        try:
            results = spread(
                actor, self._setup, self._chunks(), workers=self._workers, ray=self._ray, stop=self._stop
            )
            for _, result in results:
                if not isinstance(result, Done):
                    self._results.put(result)
        except Exception as error:
            self._results.put(error)
        else:
            self._results.put(None)

    def _chunks(self) -> Iterator[Chunk | Later]:
        plan, versions = self._plan, self._versions
        for block in range(self._first, plan.blocks):
            version, opponent = version_for(plan, block), opponent_for(plan, block)
            while (weights := versions.get(version)) is None:
                yield LATER
            others = None if opponent is None else versions[opponent]
            numbers = plan.numbers(block)
            for start in range(numbers.start, numbers.stop, self._chunk_games):
                chunk = range(start, min(start + self._chunk_games, numbers.stop))
                yield Chunk(block, chunk, weights, plan.gamma(block), others)
