"""`suzaku bench rl`: speed of the actors, of the learner, and of both at the same time."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import Final

import msgspec
import torch

from learning.reinforcement.actors import Actors, ParameterStore
from learning.reinforcement.learner import PolicyLearner
from learning.reinforcement.plan import BaselineKind, ReinforcementPlan
from learning.reinforcement.samples import rewards_of, samples_of
from policies.checkpoint import files_of, load, load_predictor
from policies.checkpoint.card import MODELS
from policies.checkpoint.tensors import pack
from policies.flow.slots import Slot
from policies.nets.compute import FloatPrecision

_BLOCKS: Final = 3
"""Blocks of each measurement; the first also starts the processes and is not counted."""
PAPER_GAMES: Final = 1_500_000
"""Games of self-play in the paper, for each of its agents."""


class LearningSpeed(msgspec.Struct, frozen=True):
    """Speeds with a number of actors.

    Attributes:
        workers: actors.
        played_per_s: hanchan a second while nothing is learned.
        learned_per_s: hanchan a second that the learner learns from while nothing is played.
        decisions_per_s: the same in decisions.
        both_per_s: hanchan a second, played and learned at the same time.
        paper_days: days for the paper's games at this speed.
    """

    workers: int
    played_per_s: float
    learned_per_s: float
    decisions_per_s: float
    both_per_s: float
    paper_days: float


class LearningBench(msgspec.Struct, frozen=True):
    """Figures of `suzaku bench rl`.

    Attributes:
        machine: the machine it ran on.
        threads: threads of the learner.
        precision: precision of the learner's arithmetic.
        baseline: baseline of the rewards.
        games: hanchan in a block.
        seed: seed of walls and samples.
        speeds: one entry per number of processes.
    """

    machine: str
    threads: int
    precision: FloatPrecision
    baseline: BaselineKind
    games: int
    seed: int
    speeds: tuple[LearningSpeed, ...]


def bench_rl(plan: ReinforcementPlan, start: Path, workers: int) -> LearningBench:
    """Measure with one actor, and with more.

    Args:
        plan: settings; its blocks are what is measured.
        start: folder of the six checkpoints.
        workers: the most actors to measure.
    """
    speeds = tuple(_speed(plan, start, count) for count in sorted({1, workers}))
    machine = platform.processor() or platform.machine()
    threads = torch.get_num_threads()
    return LearningBench(machine, threads, plan.precision, plan.baseline, plan.block_games, plan.seed, speeds)


def _speed(plan: ReinforcementPlan, start: Path, workers: int) -> LearningSpeed:
    """Measure one number of actors: blocks that are only played, one that is only learned, then both."""
    predictor = load_predictor(start)
    blocks = 2 * _BLOCKS
    plan = msgspec.structs.replace(plan, games=blocks * plan.block_games, lag=_BLOCKS - 1)
    begin = load(start, Slot.DISCARD)
    learner = PolicyLearner(plan, begin.weights, begin.card, torch.get_num_threads())
    store = ParameterStore({0: pack(learner.acting())})
    actors = Actors(plan, files_of(start, MODELS), store, workers=workers)
    try:
        samples, ends = [], []
        for block in range(_BLOCKS):
            games = [game.trajectory for game in actors.block(block) if game.trajectory is not None]
            samples.append(samples_of(games, rewards_of(games, plan.reward, predictor, plan.length)))
            ends.append(time.monotonic())
        # the blocks so far needed version 0 alone; the actors are idle until later ones are published
        begun = time.monotonic()
        decisions = learner.learn(samples[0], 0)["decisions"]
        learned = time.monotonic() - begun
        for version in range(1, _BLOCKS + 1):
            store.publish(version, pack(learner.acting()))
        begun = time.monotonic()
        for block in range(1, _BLOCKS):
            learner.learn(samples[block], block)
        for block in range(_BLOCKS, blocks - 1):
            actors.block(block)
        both = time.monotonic() - begun
    finally:
        actors.close()
        learner.close()
    games_a_s = (_BLOCKS - 1) * plan.block_games / both
    return LearningSpeed(
        workers=workers,
        played_per_s=(_BLOCKS - 1) * plan.block_games / (ends[-1] - ends[0]),
        learned_per_s=plan.block_games / learned,
        decisions_per_s=decisions / learned,
        both_per_s=games_a_s,
        paper_days=PAPER_GAMES / games_a_s / 86_400,
    )
