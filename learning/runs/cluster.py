"""Distributes tasks over the processes of a Ray cluster of any size, as `kit.workers.pool` does here.

Each process is an actor with one CPU and one thread. It gets a task once it is ready, so an actor that the
cluster has no room for delays nothing. Machines may come and go: the tasks of a lost machine are done again
elsewhere, and new CPUs are used within seconds.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec
import structlog

from kit.distribution import require
from kit.errors import ConfigError, WorkerFailed
from kit.processes import startup
from kit.workers.ordered import default_workers
from kit.workers.pool import DONE, ONE_THREAD, TRIES, Done, Later, Task, TaskQueue, Work, error_message

Program: TypeAlias = Mapping[str, str]
"""Versions of everything that influences results, by name: our sources and the numeric libraries."""

_OWN: Final = ("kit", "game", "policies", "replays", "learning")
_LIBRARIES: Final = ("mahjong", "numba", "numpy", "riichienv", "torch")


def program() -> Program:
    """The program of this process."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(path for package in _OWN for path in (root / package).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    # the part after a plus sign names a build, such as torch's CPU-only one
    libraries = {name: version(name).split("+")[0] for name in _LIBRARIES}
    return {"suzaku": digest.hexdigest()[:12], **libraries}


def differences(wanted: Program, found: Program) -> str:
    """The differences as text; "" if there are none.

    >>> differences({"suzaku": "0a1b", "torch": "2.13.0"}, {"suzaku": "0a1b", "torch": "2.13.1"})
    'torch is 2.13.1, not 2.13.0'
    """
    return ", ".join(
        f"{name} is {found.get(name, 'missing')}, not {wanted[name]}"
        for name in wanted
        if found.get(name) != wanted[name]
    )


S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

LOCAL: Final = "local"

SETTINGS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray's workers do our tasks, so at no lower priority
    "RAY_worker_niceness": "0",
    # its reports of lost processes go to stdout, which carries our results, unless they are skipped
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}
"""Environment for Ray: no usage reports, and no messages that our log repeats."""
_LOOK_S: Final = 2.0
"""Interval at which the cluster's number of CPUs is read."""
_RETRY_S: Final = 0.05
"""Interval at which a free worker asks whether there is a task by now."""
_REACH_S: Final = 5.0
_PATIENCE_S: Final = 30.0
"""Time without a working process after which a warning is logged."""

_Message: TypeAlias = tuple[str, Any]
"""Message of a worker: ready, result, done, refused or failed; and its content."""

_log = structlog.get_logger(__name__)


def results(
    prepare: Callable[[S], Work[T, R]],
    setup: S,
    tasks: Iterable[T | Later],
    workers: int | None,
    address: str,
    stop: threading.Event | None = None,
) -> Generator[tuple[T, R | Done], None, None]:
    """Do tasks in a cluster; yield each result as it comes, with its task, and `DONE` at the end of a task.

    Args:
        prepare: top-level function of a module; called once in each process, returns the function for a task.
        setup: its argument; sent to each machine once.
        tasks: handed out in this order, each drawn when there is a process for it.
        workers: maximum number of processes; the cluster's number of CPUs, as it changes, if None.
        address: ``local`` starts Ray on this machine alone, for the duration of the work; ``auto`` is the
            cluster this machine belongs to, ``HOST:PORT`` the one with that head.
        stop: set by another thread to end the work within seconds.

    Raises:
        ConfigError: there is no such cluster, or Ray is not installed.
        WorkerFailed: a task raised, the workers of one task were lost repeatedly, or a machine runs a
            program other than this one.
    """
    queue: TaskQueue[T] = TaskQueue(tasks)
    if queue.over:
        return
    stopped = threading.Event() if stop is None else stop
    with _connected(address, workers) as ray:
        pool = _ActorPool(ray, prepare, setup, queue, workers)
        try:
            while pool.busy and not stopped.is_set():
                yield from pool.listen()
        finally:
            pool.close()


@contextlib.contextmanager
def _connected(address: str, workers: int | None) -> Iterator[Any]:
    """The Ray library, connected."""
    require("ray", "--ray")
    os.environ.update(SETTINGS)
    import ray  # noqa: PLC0415 - an extra, for those who ask for it

    _check(address)
    try:
        _connect(ray, address, workers)
        yield ray
    finally:
        # The error of a lost worker keeps Ray's references in a cycle. If another thread's collection freed
        # them while Ray shuts down, Ray would end the process.
        gc.collect()
        ray.shutdown()


def _connect(ray: Any, address: str, workers: int | None) -> None:
    cpus = None
    if address == LOCAL:
        cpus = workers or default_workers()
        # its ports are open to the network, and Ray would otherwise store the token for them in a file
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        ray.init(address, num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as exc:
        why = str(exc).partition("\n")[0]
        raise ConfigError(
            f"--ray {address}: {why}; start a cluster with `ray start --head`, or take --ray {LOCAL}"
        ) from exc


def _check(address: str) -> None:
    """Check the address first: Ray reports these faults only after minutes, or unclearly."""
    if "://" in address:
        raise ConfigError(f"--ray {address}: run this on a machine of the cluster, with --ray auto")
    host, colon, port = address.rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host, int(port)), _REACH_S).close()
    except (OSError, ValueError) as exc:
        raise ConfigError(f"--ray {address}: {exc}; start a cluster there with `ray start --head`") from exc


class _PooledActor(msgspec.Struct, Generic[T]):
    """A worker: its actor, and its current task, None before it is ready."""

    actor: Any
    task: Task[T] | None = None


class _ActorPool(Generic[S, T, R]):
    """The workers, keyed by the next message expected from each."""

    def __init__(
        self,
        ray: Any,
        prepare: Callable[[S], Work[T, R]],
        setup: S,
        tasks: TaskQueue[T],
        workers: int | None,
    ) -> None:
        self._ray = ray
        self._setup = ray.put((program(), startup(), prepare, setup))
        self._actors = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_WorkerActor)
        self._workers = workers
        self._tasks = tasks
        self._unready = self._most = 0
        self._members: dict[Any, _PooledActor[T]] = {}
        self._free: list[_PooledActor[T]] = []
        self._looked, self._worked = -float("inf"), time.monotonic()

    @property
    def busy(self) -> bool:
        return self._at_work > 0 or not self._tasks.over

    @property
    def _at_work(self) -> int:
        return sum(member.task is not None for member in self._members.values())

    def listen(self) -> Iterator[tuple[T, R | Done]]:
        free, self._free = self._free, []
        for member in free:
            self._next_task(member)
        self._start_workers()
        pause = _RETRY_S if self._free else _LOOK_S
        if not self._members:
            time.sleep(pause)
            return
        first, _ = self._ray.wait(list(self._members), num_returns=1, timeout=pause)
        if not first:
            return
        # handle every other waiting message too, so that no worker waits behind the first
        heard, _ = self._ray.wait(list(self._members), num_returns=len(self._members), timeout=0)
        for source in heard or first:
            yield from self._hear(source)

    def _hear(self, source: Any) -> Iterator[tuple[T, R | Done]]:
        member = self._members[source]
        try:
            kind, value = self._ray.get(source if member.task is None else next(source))
        except self._ray.exceptions.RayTaskError as error:
            kind, value = "failed", str(error)
        except (self._ray.exceptions.RayError, StopIteration) as error:
            self._lose(source, error)
            return
        task = member.task
        if kind == "refused":
            raise WorkerFailed(value)
        if kind == "failed":
            raise WorkerFailed(f"task {task}: {value}" if task is not None else value)
        if kind == "result":
            assert task is not None
            yield task.content, value
            return
        del self._members[source]
        self._unready = 0
        self._next_task(member)
        if task is not None:
            yield task.content, DONE

    def _start_workers(self) -> None:
        """Start as many workers as there is room and work for."""
        now = time.monotonic()
        if self._at_work:
            self._worked = now
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        cpus = int(self._ray.cluster_resources().get("CPU", 0))
        if now - self._worked >= _PATIENCE_S:
            self._worked = now
            _log.warning("cluster.waiting", cpus=cpus)
        room = (self._workers or cpus) - len(self._members) - len(self._free)
        unready = len(self._members) - self._at_work
        for _ in range(self._tasks.left(room + unready) - unready if room > 0 else 0):
            actor = self._actors.remote()
            self._members[actor.get_ready.remote([self._setup])] = _PooledActor(actor)
        self._most = max(self._most, len(self._members))

    def _next_task(self, member: _PooledActor[T]) -> None:
        """Give a worker the next task; it is released if there will be none."""
        member.task = self._tasks.take()
        if member.task is not None:
            self._members[member.actor.do.remote(member.task.content)] = member
        elif not self._tasks.over:
            self._free.append(member)

    def _lose(self, source: Any, error: Exception) -> None:
        """A worker is gone: another one does its task again."""
        member = self._members.pop(source)
        self._ray.kill(member.actor)
        self._looked = -float("inf")
        task, reason = member.task, type(error).__name__
        if task is None:
            self._unready += 1
            _log.warning("worker.lost", reason=reason)
            if self._unready >= TRIES * self._most:
                raise WorkerFailed(f"{self._unready} processes died before any was ready ({reason})")
            return
        task.lost += 1
        _log.warning("worker.lost", task=str(task), reason=reason, times=task.lost)
        if task.lost >= TRIES:
            raise WorkerFailed(f"task {task}: its process was lost {TRIES} times ({reason})")
        self._tasks.put_back(task)

    def close(self) -> None:
        for member in (*self._members.values(), *self._free):
            self._ray.kill(member.actor)
        self._members.clear()
        self._free.clear()


class _WorkerActor:
    """Actor in a process of the cluster; its module imports nothing that computes."""

    def __init__(self) -> None:
        os.environ.update(ONE_THREAD)
        self._work: Work[Any, Any] | None = None

    def get_ready(self, setup: list[Any]) -> _Message:
        """Prepare.

        Args:
            setup: a reference to the setup, in a list: unpacking it imports what reads the environment.
        """
        import ray  # noqa: PLC0415 - an extra that every worker here has

        try:
            wanted, begin, prepare, given = ray.get(setup[0])
            begin()
            if other := differences(wanted, program()):
                return "failed", f"{socket.gethostname()} runs another program: {other}"
            self._work = prepare(given)
        except Exception as error:
            return error_message(error)
        return "ready", None

    def do(self, task: Any) -> Iterator[_Message]:
        """Do a task; its results are sent as they come."""
        assert self._work is not None
        try:
            for result in self._work(task):
                yield "result", result
        except Exception as error:
            yield error_message(error)
            return
        yield "done", None
