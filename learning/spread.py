"""Work spread over this machine's processes, or over a cluster's: one call, and the same results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from learning import cluster, crew
from learning.corpus.workers import default_workers
from learning.crew import Done, Work

S = TypeVar("S")
R = TypeVar("R")


def spread(
    prepare: Callable[[S], Work[R]],
    setup: S,
    tasks: Sequence[int],
    *,
    workers: int | None = None,
    ray: str | None = None,
) -> Generator[tuple[int, R | Done], None, None]:
    """Do tasks in processes; each result as it comes, with its task, and `learning.crew.DONE` after its last.

    A lost process's task is done again from its beginning, so some results come twice. Close the generator to
    stop before the end.

    Args:
        prepare: of a module's top level; called once in each process, returns what does a task.
        setup: what it is called with. Other machines have our program but not our files: for a cluster it
            holds whatever is needed.
        tasks: numbers, handed out in this order.
        workers: processes, of one thread each; one for each core, of this machine or of the cluster, if None.
        ray: None for processes of our own; for a Ray cluster ``local``, ``auto`` or ``HOST:PORT``, see
            `learning.cluster.results`.

    Raises:
        ConfigError: there is no such cluster, or Ray is not installed.
        WorkerFailed: a task raised, or one task's workers were lost again and again.
    """
    if ray is None:
        return crew.results(prepare, setup, tasks, workers or default_workers())
    return cluster.results(prepare, setup, tasks, workers, ray)
