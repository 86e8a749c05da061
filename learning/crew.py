"""Work spread over processes that hand back results one by one; a worker that dies costs no result.

A task is done by one process from its beginning to its end. If that process is lost, another one does the
whole task again, so results must not depend on who makes them, and some of them come twice.
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
"""One task, by its number, to its results."""

TRIES: Final = 3
"""A task that has taken so many workers with it is at fault itself."""
ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment of a process that computes with one thread, so that sums are added up in one order."""

_STOP_S: Final = 5.0

_log = structlog.get_logger(__name__)


class Done:
    """Stands after a task's results for its end."""


DONE: Final = Done()


def results(
    prepare: Callable[[S], Work[R]], setup: S, tasks: Sequence[int], workers: int
) -> Generator[tuple[int, R | Done], None, None]:
    """Do tasks in processes; each result as it comes, with its task, and `DONE` after a task's last.

    Args:
        prepare: of a module's top level; called once in each process, returns what does a task.
        setup: what it is called with.
        tasks: numbers, handed out in this order.
        workers: processes; they think with one thread each.

    Raises:
        WorkerFailed: a task raised, or one task's workers died again and again.
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
        # spawned: a fork would copy threads' locks and whatever the kernels hold
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
        """A worker is gone: his task goes to a new one."""
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
    """What a worker does from its start to its end."""
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
    """What a worker says of an error: one of ours speaks for itself, others bring their trace."""
    if isinstance(error, BotError):
        return "refused", str(error)
    return "failed", "".join(traceback.format_exception(error, limit=-6))


def begin_worker(begin: Startup) -> None:
    """What a process of ours does first.

    Its logs go where the parent's go, and so does whatever a library prints: stdout is for results alone.

    Args:
        begin: `game.processes.startup` of the parent.
    """
    with contextlib.suppress(OSError):  # closed by whoever started us: then nothing is printed at all
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
