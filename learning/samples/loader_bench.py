"""Measures how fast the loader delivers samples as tensors ready to learn from."""

from __future__ import annotations

import platform
import resource
import statistics
import time
from collections.abc import Generator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec

from kit.errors import ReplayError
from kit.workers.ordered import default_workers
from learning.corpus.reader import Corpus
from learning.samples.choice import choose
from learning.samples.loader import Batch, Loader
from policies.flow.slots import Slot

SLICES: Final = 10
"""Parts of the run that are timed separately."""


class LoaderBench(msgspec.Struct, frozen=True):
    """Figures of `suzaku bench loader`.

    Attributes:
        machine: the machine it ran on.
        slot: slot of the decisions.
        features: the feature set of the planes.
        seed: seed of the order and of the permutations.
        batch_size: samples in a batch.
        workers: threads.
        games: games whose decisions were requested.
        samples: delivered, without the first batch, which waits for the kernels and the first pool.
        seconds: wall-clock time from the first batch to the last.
        first_batch_s: seconds until the first batch.
        minimum: samples per second of the slowest slice.
        median: speed of the middle slice.
        maximum: speed of the fastest slice.
        cores: CPU seconds per second of wall-clock time.
        shares: shares of the CPU seconds: fold, gather, encode, permute, deliver, and other.
        rss_mb: peak resident size.
    """

    machine: str
    slot: Slot
    features: str
    seed: int
    batch_size: int
    workers: int
    games: int
    samples: int
    seconds: float
    first_batch_s: float
    minimum: float
    median: float
    maximum: float
    cores: float
    shares: dict[str, float]
    rss_mb: float


def bench_loader(
    folder: Path,
    slot: Slot = Slot.DISCARD,
    *,
    seed: int = 0,
    workers: int | None = None,
    batch_size: int = 1024,
    samples: int | None = None,
) -> LoaderBench:
    """Load a corpus once: all decisions of a slot, with augmentation.

    Args:
        folder: Folder of the corpus.
        slot: Slot of the decisions.
        seed: Seed of the order and of the permutations.
        workers: Threads; one per core if not given.
        batch_size: Samples in a batch.
        samples: Stop after about this many; the whole corpus if not given.

    Raises:
        ReplayError: there is no complete corpus, or it holds fewer than two batches.
    """
    corpus = Corpus(folder)
    workers = workers or default_workers()
    choice = choose(corpus, corpus.select())
    loader = Loader(corpus, choice, Slot(slot), seed=seed, workers=workers, batch_size=batch_size)
    began = time.perf_counter()
    batches = loader.epoch()
    next(batches, None)
    first_batch_s = time.perf_counter() - began
    begun = time.process_time()
    before = msgspec.structs.asdict(loader.costs)
    times, counts = _run(batches, samples)
    if len(times) == 1:
        raise ReplayError(f"{folder}: too few decisions for two batches of {batch_size}")
    spent = time.process_time() - begun
    speeds = slice_speeds(times, counts)
    costs = {name: after - before[name] for name, after in msgspec.structs.asdict(loader.costs).items()}
    return LoaderBench(
        machine=f"{platform.machine()}, {default_workers()} cores, Python {platform.python_version()}",
        slot=Slot(loader.slot),
        features=loader.features,
        seed=seed,
        batch_size=batch_size,
        workers=workers,
        games=len(choice.games),
        samples=counts[-1],
        seconds=times[-1] - times[0],
        first_batch_s=first_batch_s,
        minimum=min(speeds),
        median=statistics.median(speeds),
        maximum=max(speeds),
        cores=spent / (times[-1] - times[0]),
        shares=_shares(costs, spent),
        rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _run(batches: Generator[Batch], samples: int | None) -> tuple[list[float], list[int]]:
    """Arrival time of each batch and samples delivered by then, beginning with the start."""
    times, counts = [time.perf_counter()], [0]
    for batch in batches:
        times.append(time.perf_counter())
        counts.append(counts[-1] + len(batch.labels))
        if samples is not None and counts[-1] >= samples:
            break
    batches.close()
    return times, counts


def slice_speeds(times: Sequence[float], counts: Sequence[int]) -> list[float]:
    """Samples per second in each of `SLICES` parts of about equally many batches; fewer if there are few.

    >>> slice_speeds([0.0, 1.0, 3.0], [0, 10, 20])
    [10.0, 5.0]
    """
    batches = len(times) - 1
    parts = min(SLICES, batches)
    bounds = [batches * part // parts for part in range(parts + 1)]
    return [(counts[b] - counts[a]) / (times[b] - times[a]) for a, b in pairwise(bounds)]


def _shares(costs: dict[str, float], spent: float) -> dict[str, float]:
    """Costs as shares of the CPU time of the process; the unaccounted rest is ``other``."""
    known = sum(costs.values())
    total = max(spent, known)
    return {**{name: cost / total for name, cost in costs.items()}, "other": (total - known) / total}
