"""Distributes tasks over processes of this machine or of a cluster; the results are the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

from kit.workers import pool
from kit.workers.ordered import default_workers
from kit.workers.pool import Done, Later, Work
from learning.runs import cluster

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


def spread(
    prepare: Callable[[S], Work[T, R]],
    setup: S,
    tasks: Iterable[T | Later],
    *,
    workers: int | None = None,
    ray: str | None = None,
    stop: threading.Event | None = None,
    here: bool = False,
) -> Generator[tuple[T, R | Done], None, None]:
    """Do tasks in processes; yield each result and its task, and `pool.DONE` at the end of a task.

    The task of a lost process is done again from the beginning, so some results arrive twice. Close the
    generator to stop early.

    Args:
        prepare: top-level function of a module; called once in each process, returns the function for a task.
        setup: its argument. Other machines have our program but not our files: for a cluster it must hold
            everything needed.
        tasks: picklable values; handed out in this order, each drawn when there is a process for it. `LATER`
            says that the next task is not known yet.
        workers: processes, of one thread each; one per core, of this machine or of the cluster, if None.
        ray: None for processes of our own; for a Ray cluster ``local``, ``auto`` or ``HOST:PORT``, see
            `learning.runs.cluster.results`.
        stop: set by another thread to end the work within seconds.
        here: with one worker, work in this process instead, for tasks of seconds.

    Raises:
        ConfigError: there is no such cluster, or Ray is not installed.
        WorkerFailed: a task raised, or the workers of one task were lost repeatedly.
    """
    if here and ray is None and workers == 1:
        return pool.results_here(prepare, setup, tasks, stop)
    if ray is None:
        return pool.results(prepare, setup, tasks, workers or default_workers(), stop)
    return cluster.results(prepare, setup, tasks, workers, ray, stop)
