"""Distributes tasks over processes that return results one by one; a worker that dies costs no result.

A task is done by one process from beginning to end. If that process is lost, another one does the whole task
again, so results must not depend on the process that makes them, and some arrive twice.

A task is anything that can be pickled, and is drawn only when a worker is free for it: a caller that yields
tasks can put into each what it has learned from the results so far.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import reprlib
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec
import structlog

from game.errors import BotError, WorkerFailed
from game.processes import Startup, startup

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

Work: TypeAlias = Callable[[T], Iterable[R]]
"""Maps a task to its results."""

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


class Task(msgspec.Struct, Generic[T]):
    """A task, and how many of its workers were lost."""

    content: T
    lost: int = 0

    def __str__(self) -> str:
        return reprlib.repr(self.content)


class TaskQueue(Generic[T]):
    """The tasks not being done, drawn from their source as they are needed.

    Args:
        source: of the tasks, in their order.
    """

    def __init__(self, source: Iterable[T]) -> None:
        self._source = iter(source)
        self._drawn: deque[Task[T]] = deque()

    def left(self, limit: int) -> int:
        """The number of tasks left, counted up to ``limit``; draws as many."""
        missing = limit - len(self._drawn)
        self._drawn.extend(map(Task, islice(self._source, max(0, missing))))
        return min(len(self._drawn), limit)

    def take(self) -> Task[T] | None:
        """The next task, None if there are no more."""
        return self._drawn.popleft() if self.left(1) else None

    def put_back(self, task: Task[T]) -> None:
        """Return the task of a lost worker; it is the next one."""
        self._drawn.appendleft(task)


def results(
    prepare: Callable[[S], Work[T, R]], setup: S, tasks: Iterable[T], workers: int
) -> Generator[tuple[T, R | Done], None, None]:
    """Do tasks in processes; yield each result as it comes, with its task, and `DONE` at the end of a task.

    Args:
        prepare: top-level function of a module; called once in each process, returns the function for a task.
        setup: its argument.
        tasks: handed out in this order, each drawn when a worker is free for it.
        workers: processes; each computes with one thread.

    Raises:
        WorkerFailed: a task raised, or the workers of one task died repeatedly.
    """
    pool = _ProcessPool(prepare, setup, tasks)
    try:
        for _ in range(workers):
            pool.start_worker()
        while pool.busy:
            yield from pool.listen()
    finally:
        pool.close()


class _ProcessPool(Generic[S, T, R]):
    def __init__(self, prepare: Callable[[S], Work[T, R]], setup: S, tasks: Iterable[T]) -> None:
        # spawned: a fork would copy the locks of threads and the state of the kernels
        self._context: SpawnContext = multiprocessing.get_context("spawn")
        self._prepare = prepare
        self._setup = setup
        self._tasks = TaskQueue(tasks)
        self._members: dict[Connection, tuple[SpawnProcess, Task[T]]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._members)

    def start_worker(self) -> None:
        """Start a worker for the next task, if there is one."""
        task = self._tasks.take()
        if task is None:
            return
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, startup(), self._prepare, self._setup), daemon=True
        )
        with _single_threaded():
            process.start()
        theirs.close()
        self._members[ours] = process, task

    def listen(self) -> Iterator[tuple[T, R | Done]]:
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
                yield task.content, value
            elif kind == "ready":
                self._send(connection)
            else:
                self._next_task(connection)
                yield task.content, DONE

    def _next_task(self, connection: Connection) -> None:
        process, _ = self._members[connection]
        task = self._tasks.take()
        if task is None:
            del self._members[connection]
            with contextlib.suppress(ConnectionError):
                connection.send(None)
            connection.close()
            process.join(_STOP_S)
            return
        self._members[connection] = process, task
        self._send(connection)

    def _send(self, connection: Connection) -> None:
        """Send a worker its task; it is waiting for one, so that even a large one is taken at once."""
        _, task = self._members[connection]
        try:
            connection.send((task.content,))
        except ConnectionError:
            self._replace(connection, task)

    def _replace(self, connection: Connection, task: Task[T]) -> None:
        """A worker is gone: a new one gets its task."""
        process, _ = self._members.pop(connection)
        connection.close()
        process.join(_STOP_S)
        task.lost += 1
        _log.warning("worker.lost", task=str(task), exit_code=process.exitcode, times=task.lost)
        if task.lost >= TRIES:
            raise WorkerFailed(f"task {task}: its process died {TRIES} times (exit code {process.exitcode})")
        self._tasks.put_back(task)
        self.start_worker()

    def close(self) -> None:
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


def _serve(
    connection: Connection, begin: Startup, prepare: Callable[[Any], Work[Any, Any]], setup: Any
) -> None:
    """Life of a worker, from start to end."""
    begin_worker(begin)
    try:
        work = prepare(setup)
        connection.send(("ready", None))
        while (task := connection.recv()) is not None:
            for result in work(*task):
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
