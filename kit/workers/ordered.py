"""Maps a function over batches in worker processes, with results in order and bounded look-ahead."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeVar

from kit.errors import WorkerFailed
from kit.processes import startup
from kit.workers.pool import begin_worker

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 3
"""Batches handed out per worker before the oldest result is awaited."""


def default_workers() -> int:
    """One per core available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Consecutive items, ``size`` at a time.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def in_order(function: Callable[[T], R], tasks: Iterable[T], workers: int) -> Iterator[R]:
    """Yield the results of a function, in the order of the tasks.

    Args:
        function: a top-level function of a module; with one worker or one task it is called in this process.
        tasks: taken only as fast as results are.
        workers: processes.

    Raises:
        WorkerFailed: a process died.
    """
    source = iter(tasks)
    begun = list(islice(source, 2))
    tasks = chain(begun, source)
    if workers <= 1 or len(begun) < 2:
        yield from map(function, tasks)
        return
    # spawned: a fork would copy the locks of threads and the state of the kernels
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=begin_worker, initargs=(startup(),))
    waiting: deque[Future[R]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(function, task))
            if len(waiting) > _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as exc:
        raise WorkerFailed("a worker process died; if memory ran out, give fewer --workers") from exc
    finally:
        pool.shutdown(cancel_futures=True)


def peak_memory_mb() -> float:
    """Peak memory of this process, megabytes; 0 where the system does not report it."""
    if sys.platform == "win32":
        return 0.0
    # on Linux, as the other figure includes that of the process it came from; some containers lack it
    with contextlib.suppress(OSError, IndexError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / (1 << 10)
    import resource  # noqa: PLC0415 - not on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
