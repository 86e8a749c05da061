"""Measures how fast a network learns, and its bottleneck: the loader alone, the network alone, and both."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Generator, Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import msgspec
import torch

from kit.errors import ReplayError
from kit.workers.ordered import default_workers
from learning.corpus.reader import Corpus
from learning.runs.learner import Learner
from learning.samples.loader import Batch, Loader
from learning.supervised.first_weights import first_network
from learning.supervised.plan import TrainingPlan
from learning.supervised.run import imitation_loss
from learning.supervised.samples_run import choice_of, device_name

ROUNDS: Final = 5
"""Slices of each of the three, measured in turn, so that a disturbance affects all of them."""
_KEPT: Final = 8
"""Batches in memory for the network alone."""


class TrainingSpeed(msgspec.Struct, frozen=True):
    """Samples per second: the slowest slice, the middle one, the fastest."""

    minimum: float
    median: float
    maximum: float


class TrainingBench(msgspec.Struct, frozen=True):
    """Figures of `suzaku bench training`.

    Attributes:
        machine: the machine it ran on.
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
    """Measure a plan's speed.

    Args:
        plan: the training settings.
        folder: folder of the corpus.
        seconds: length of each slice.

    Raises:
        ConfigError: no decision matches the plan's selection.
        ReplayError: there is no complete corpus, or it is too small.
    """
    corpus = Corpus(folder)
    threads = torch.get_num_threads()
    loader = Loader(
        corpus,
        choice_of(plan, corpus, "train"),
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
    if len(kept) < _KEPT:
        raise ReplayError(f"{folder}: too few samples to measure with")
    speeds: dict[str, list[float]] = {"loader": [], "network": [], "together": []}
    _learn(learner, kept, 0.0, plan)  # kernels, memory
    for _ in range(ROUNDS):
        speeds["loader"].append(_take(fresh, seconds))
        speeds["network"].append(_learn(learner, cycle(kept), seconds, plan))
        speeds["together"].append(_learn(learner, fresh, seconds, plan))
    fresh.close()
    learner.close()
    found = {
        name: TrainingSpeed(min(each), statistics.median(each), max(each)) for name, each in speeds.items()
    }
    return TrainingBench(
        machine=f"{platform.machine()}, {default_workers()} cores, torch {torch.__version__}",
        device=device_name(learner.device, threads),
        model=str(plan.model),
        network=f"{plan.width}×{plan.depth}, {plan.precision}",
        features=plan.features,
        batch_size=plan.batch_size,
        seed=plan.seed,
        seconds_a_slice=seconds,
        loader=found["loader"],
        network_alone=found["network"],
        together=found["together"],
        share=found["together"].median / found["network"].median,
    )


def _endless(loader: Loader) -> Generator[Batch]:
    epoch = 0
    while True:
        yield from loader.epoch(epoch)
        epoch += 1


def _take(batches: Iterable[Batch], seconds: float) -> float:
    """Samples per second that are delivered."""
    begun, samples = time.perf_counter(), 0
    for batch in batches:
        samples += len(batch.labels)
        if time.perf_counter() - begun >= seconds:
            break
    return samples / (time.perf_counter() - begun)


def _learn(learner: Learner[Batch], batches: Iterable[Batch], seconds: float, plan: TrainingPlan) -> float:
    """Samples per second that are learned from."""
    begun, samples = time.perf_counter(), 0
    for batch in batches:
        learner.step(batch, 0, plan.learning_rate)
        samples += len(batch.labels)
        if time.perf_counter() - begun >= seconds:
            break
    return samples / (time.perf_counter() - begun)
