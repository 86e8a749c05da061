"""Distributes tasks over processes that return results one by one; a worker that dies costs no result.

A task is done by one process from beginning to end. If that process is lost, another one does the whole task
again, so results must not depend on the process that makes them, and some arrive twice.

A task is anything that can be pickled, and is drawn only when a worker is free for it: a caller that yields
tasks can put into each what it has learned from the results so far, and yield `LATER` until it knows enough.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import reprlib
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec
import structlog

from kit.errors import BotError, WorkerFailed
from kit.processes import Startup, startup

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

_GARBAGE: Final = 100_000
"""Objects a worker makes before it looks for cycles among them: reference counts free nearly all, and a look
every 700 objects takes a twentieth of the time of self-play and more."""
_STOP_S: Final = 5.0
_LOOK_S: Final = 0.02
"""Interval at which a free worker asks whether there is a task by now, and whether to stop."""

_log = structlog.get_logger(__name__)


class Done:
    """Marks the end of a task after its results."""


DONE: Final = Done()


class Later:
    """A source yields this in place of a task while it has none but expects more."""


LATER: Final = Later()


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

    def __init__(self, source: Iterable[T | Later]) -> None:
        self._source = iter(source)
        self._drawn: deque[Task[T]] = deque()
        self._ended = False

    @property
    def over(self) -> bool:
        """Whether no task is left, now or later."""
        return self.left(1) == 0 and self._ended

    def left(self, limit: int) -> int:
        """The number of tasks there are now, counted up to ``limit``; draws as many."""
        while len(self._drawn) < limit and not self._ended:
            try:
                content = next(self._source)
            except StopIteration:
                self._ended = True
                break
            if isinstance(content, Later):
                break
            self._drawn.append(Task(content))
        return min(len(self._drawn), limit)

    def take(self) -> Task[T] | None:
        """The next task, None if there is none now."""
        return self._drawn.popleft() if self.left(1) else None

    def put_back(self, task: Task[T]) -> None:
        """Return the task of a lost worker; it is the next one."""
        self._drawn.appendleft(task)


def results(
    prepare: Callable[[S], Work[T, R]],
    setup: S,
    tasks: Iterable[T | Later],
    workers: int,
    stop: threading.Event | None = None,
) -> Generator[tuple[T, R | Done], None, None]:
    """Do tasks in processes; yield each result as it comes, with its task, and `DONE` at the end of a task.

    Args:
        prepare: top-level function of a module; called once in each process, returns the function for a task.
        setup: its argument.
        tasks: handed out in this order, each drawn when a worker is free for it.
        workers: processes; each computes with one thread.
        stop: set by another thread to end the work at once.

    Raises:
        WorkerFailed: a task raised, or the workers of one task died repeatedly.
    """
    pool = _ProcessPool(prepare, setup, tasks)
    stopped = threading.Event() if stop is None else stop
    try:
        for _ in range(workers):
            pool.start_worker()
        while pool.busy and not stopped.is_set():
            yield from pool.listen(None if stop is None else _LOOK_S)
    finally:
        pool.close()


def results_here(
    prepare: Callable[[S], Work[T, R]],
    setup: S,
    tasks: Iterable[T | Later],
    stop: threading.Event | None = None,
) -> Generator[tuple[T, R | Done], None, None]:
    """Do tasks one after another in this process; the arguments and what it yields are those of `results`."""
    work = prepare(setup)
    for task in tasks:
        if stop is not None and stop.is_set():
            return
        if isinstance(task, Later):
            time.sleep(_LOOK_S)
            continue
        for result in work(task):
            yield task, result
        yield task, DONE


class _PoolMember(msgspec.Struct, Generic[T]):
    """A worker: its process, its task, whether it is prepared, and whether it waits for a task."""

    process: SpawnProcess
    task: Task[T] | None
    ready: bool = False
    free: bool = False


class _ProcessPool(Generic[S, T, R]):
    def __init__(self, prepare: Callable[[S], Work[T, R]], setup: S, tasks: Iterable[T | Later]) -> None:
        # spawned: a fork would copy the locks of threads and the state of the kernels
        self._context: SpawnContext = multiprocessing.get_context("spawn")
        self._prepare = prepare
        self._setup = setup
        self._tasks: TaskQueue[T] = TaskQueue(tasks)
        self._members: dict[Connection, _PoolMember[T]] = {}
        self._unready = 0  # processes in a row that died without a task before they were prepared

    @property
    def busy(self) -> bool:
        return bool(self._members)

    def start_worker(self) -> None:
        """Start a worker for the next task, if there is or will be one."""
        if self._tasks.over:
            return
        ours, theirs = self._context.Pipe()
        # its setup comes later: a large argument is written to a pipe whose reading end is open here too, and
        # that never ends if the process dies before it reads
        process = self._context.Process(target=_serve, args=(theirs, startup()), daemon=True)
        with _single_threaded():
            process.start()
        theirs.close()
        self._members[ours] = _PoolMember(process, self._tasks.take())

    def listen(self, timeout: float | None) -> Iterator[tuple[T, R | Done]]:
        """Hear what the workers say, and give the free ones what there is to do.

        Args:
            timeout: seconds to wait at most for a worker to say something; None for no limit.
        """
        for waiting in [each for each, member in self._members.items() if member.free]:
            self._next_task(waiting)
        if not self._members or any(member.free for member in self._members.values()):
            timeout = _LOOK_S
        for connection in wait(list(self._members), timeout):
            assert isinstance(connection, Connection)
            task = self._members[connection].task
            try:
                kind, value = connection.recv()
            except (EOFError, ConnectionError):
                self._replace(connection)
                continue
            if kind == "refused":
                raise WorkerFailed(value)
            if kind == "failed":
                raise WorkerFailed(f"task {task}: {value}")
            if kind == "ready":
                self._members[connection].ready, self._unready = True, 0
            if kind == "started":
                self._tell(connection, (self._prepare, self._setup))
            elif kind == "result":
                assert task is not None
                yield task.content, value
            elif kind == "ready" and task is not None:
                self._send(connection)
            else:
                self._next_task(connection)
                if task is not None:
                    yield task.content, DONE

    def _next_task(self, connection: Connection) -> None:
        """Give a worker that waits its next task; it is released if there will be none."""
        member = self._members[connection]
        member.task = self._tasks.take()
        member.free = member.task is None
        if member.task is not None:
            self._send(connection)
        elif self._tasks.over:
            del self._members[connection]
            with contextlib.suppress(ConnectionError):
                connection.send(None)
            connection.close()
            member.process.join(_STOP_S)

    def _send(self, connection: Connection) -> None:
        """Send a worker its task."""
        task = self._members[connection].task
        assert task is not None
        self._tell(connection, (task.content,))

    def _tell(self, connection: Connection, message: tuple[Any, ...]) -> None:
        """Send a worker what it is waiting for, so that even a large message is taken at once."""
        try:
            connection.send(message)
        except ConnectionError:
            self._replace(connection)

    def _replace(self, connection: Connection) -> None:
        """A worker is gone: a new one gets its task."""
        member = self._members.pop(connection)
        process, task = member.process, member.task
        connection.close()
        process.join(_STOP_S)
        if task is None:
            _log.warning("worker.lost", exit_code=process.exitcode)
            self._unready += not member.ready
            if self._unready >= TRIES:
                raise WorkerFailed(f"{TRIES} processes died at their start (exit code {process.exitcode})")
            self.start_worker()
            return
        task.lost += 1
        _log.warning("worker.lost", task=str(task), exit_code=process.exitcode, times=task.lost)
        if task.lost >= TRIES:
            raise WorkerFailed(f"task {task}: its process died {TRIES} times (exit code {process.exitcode})")
        self._tasks.put_back(task)
        self.start_worker()

    def close(self) -> None:
        for connection, member in self._members.items():
            connection.close()
            member.process.terminate()
        for member in self._members.values():
            member.process.join(_STOP_S)
            if member.process.is_alive():
                member.process.kill()
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


def _serve(connection: Connection, begin: Startup) -> None:
    """Life of a worker, from start to end."""
    begin_worker(begin)
    try:
        connection.send(("started", None))
        prepare, setup = connection.recv()
        work: Work[Any, Any] = prepare(setup)
        gc.collect()
        gc.freeze()  # lives as long as the process
        gc.set_threshold(_GARBAGE)
        connection.send(("ready", None))
        while (task := connection.recv()) is not None:
            for result in work(*task):
                connection.send(("result", result))
            connection.send(("done", None))
    except (EOFError, ConnectionError):
        return
    except Exception as error:
        connection.send(error_message(error))


def error_message(error: Exception) -> tuple[str, str]:
    """Message for an error in a worker: our own errors by their text, others with their trace."""
    if isinstance(error, BotError):
        return "refused", str(error)
    return "failed", "".join(traceback.format_exception(error, limit=-6))


def begin_worker(begin: Startup) -> None:
    """Initialise a worker process.

    Its logs go where the parent's go, and so does anything a library prints: stdout is for results alone.

    Args:
        begin: `kit.processes.startup` of the parent.
    """
    with contextlib.suppress(OSError):  # closed by the program that started us: then nothing is printed
        os.dup2(2, 1)
    begin()
    _leave_with_the_parent()


def _leave_with_the_parent() -> None:
    """Leave Ctrl-C and a closed terminal to the parent, and do not outlive it if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
