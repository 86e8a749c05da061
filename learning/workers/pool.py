"""Distributes tasks over processes that return results one by one; a worker that dies costs no result.

A task is done by one process from beginning to end. If that process is lost, another one does the whole task
again, so results must not depend on the process that makes them, and some arrive twice.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final, Generic, TypeAlias, TypeVar

import structlog

from game.errors import BotError, WorkerFailed
from game.processes import Startup, startup

S = TypeVar("S")
R = TypeVar("R")

Work: TypeAlias = Callable[[int], Iterable[R]]
"""Maps the number of a task to its results."""

TRIES: Final = 3
"""A task whose workers died this many times is itself at fault."""
ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment of a process that computes with one thread, so that sums are added in a fixed order."""

_STOP_S: Final = 5.0

_log = structlog.get_logger(__name__)


class Done:
    """Marks the end of a task after its results."""


DONE: Final = Done()


def results(
    prepare: Callable[[S], Work[R]], setup: S, tasks: Sequence[int], workers: int
) -> Generator[tuple[int, R | Done], None, None]:
    """Do tasks in processes; yield each result as it comes, with its task, and `DONE` at the end of a task.

    Args:
        prepare: top-level function of a module; called once in each process, returns the function for a task.
        setup: its argument.
        tasks: numbers, handed out in this order.
        workers: processes; each computes with one thread.

    Raises:
        WorkerFailed: a task raised, or the workers of one task died repeatedly.
    """
    crew = _Crew(prepare, setup, tasks)
    try:
        for _ in range(min(workers, len(tasks))):
            crew.hire()
        while crew.busy:
            yield from crew.listen()
    finally:
        crew.dismiss()


class _Crew(Generic[S, R]):
    def __init__(self, prepare: Callable[[S], Work[R]], setup: S, tasks: Sequence[int]) -> None:
        # spawned: a fork would copy the locks of threads and the state of the kernels
        self._context: SpawnContext = multiprocessing.get_context("spawn")
        self._prepare = prepare
        self._setup = setup
        self._waiting = deque(tasks)
        self._lost = Counter[int]()
        self._members: dict[Connection, tuple[SpawnProcess, int]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._members)

    def hire(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, startup(), self._prepare, self._setup), daemon=True
        )
        with _single_threaded():
            process.start()
        theirs.close()
        self._members[ours] = process, -1
        self._next_task(ours)

    def listen(self) -> Iterator[tuple[int, R | Done]]:
        for connection in wait(list(self._members)):
            assert isinstance(connection, Connection)
            _, task = self._members[connection]
            try:
                kind, value = connection.recv()
            except (EOFError, ConnectionError):
                self._replace(connection, task)
                continue
            if kind == "refused":
                raise WorkerFailed(value)
            if kind == "failed":
                raise WorkerFailed(f"task {task}: {value}")
            if kind == "result":
                yield task, value
                continue
            self._next_task(connection)
            yield task, DONE

    def _next_task(self, connection: Connection) -> None:
        process, _ = self._members[connection]
        if not self._waiting:
            del self._members[connection]
            with contextlib.suppress(ConnectionError):
                connection.send(None)
            connection.close()
            process.join(_STOP_S)
            return
        task = self._waiting.popleft()
        self._members[connection] = process, task
        try:
            connection.send(task)
        except ConnectionError:
            self._replace(connection, task)

    def _replace(self, connection: Connection, task: int) -> None:
        """A worker is gone: a new one gets its task."""
        process, _ = self._members.pop(connection)
        connection.close()
        process.join(_STOP_S)
        self._lost[task] += 1
        _log.warning("worker.lost", task=task, exit_code=process.exitcode, times=self._lost[task])
        if self._lost[task] >= TRIES:
            raise WorkerFailed(f"task {task}: its process died {TRIES} times (exit code {process.exitcode})")
        self._waiting.appendleft(task)
        self.hire()

    def dismiss(self) -> None:
        for connection, (process, _) in self._members.items():
            connection.close()
            process.terminate()
        for process, _ in self._members.values():
            process.join(_STOP_S)
            if process.is_alive():
                process.kill()
        self._members.clear()


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Processes started here compute with one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(connection: Connection, begin: Startup, prepare: Callable[[Any], Work[Any]], setup: Any) -> None:
    """Life of a worker, from start to end."""
    begin_worker(begin)
    try:
        work = prepare(setup)
        while (task := connection.recv()) is not None:
            for result in work(task):
                connection.send(("result", result))
            connection.send(("done", None))
    except (EOFError, ConnectionError):
        return
    except Exception as error:
        connection.send(told(error))


def told(error: Exception) -> tuple[str, str]:
    """Message for an error in a worker: our own errors by their text, others with their trace."""
    if isinstance(error, BotError):
        return "refused", str(error)
    return "failed", "".join(traceback.format_exception(error, limit=-6))


def begin_worker(begin: Startup) -> None:
    """Initialise a worker process.

    Its logs go where the parent's go, and so does anything a library prints: stdout is for results alone.

    Args:
        begin: `game.processes.startup` of the parent.
    """
    with contextlib.suppress(OSError):  # closed by the program that started us: then nothing is printed
        os.dup2(2, 1)
    begin()
    _leave_with_the_parent()


def _leave_with_the_parent() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
