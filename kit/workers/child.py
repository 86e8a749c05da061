"""A process beside the program, which talks with it and never makes it wait.

A pool spreads tasks and returns all their results; a child answers messages when it can, or not at all. It
takes only processor time that nothing else wants, unless somebody waits for it. It says when it is idle and,
every second, that it works, so one that hangs is noticed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Generic, TypeVar

import msgspec

from kit.errors import BotError
from kit.processes import Startup, startup, step_back
from kit.workers.ordered import peak_memory_mb
from kit.workers.pool import begin_worker

S = TypeVar("S")

STARTS: Final = 2
"""A child that died or hung is replaced once."""
START_S: Final = 300.0
"""Longer than it takes to compile every kernel."""
SILENT_S: Final = 60.0
"""A child that has work and is silent for so long hangs; on a crowded machine a step may take long."""
BEAT_S: Final = 1.0
_STOP_S: Final = 2.0


class ChildReady(msgspec.Struct, frozen=True):
    """From the child: everything is loaded."""


class ChildIdle(msgspec.Struct, frozen=True):
    """From the child: it has nothing to do.

    Attributes:
        heard: messages it has received; later ones are work that it does not know of yet.
    """

    heard: int


class ChildBusy(msgspec.Struct, frozen=True):
    """From the child, every second or so: it still works."""


class ChildFailed(msgspec.Struct, frozen=True):
    """From the child, before it ends: what went wrong."""

    reason: str


class Line:
    """The child's end of the connection.

    Args:
        connection: to the program.

    Attributes:
        memory_mb: the child gives up if it has taken more; None for no limit.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._heard = 0
        self._beat = time.monotonic()
        self.memory_mb: int | None = None

    def ready(self) -> None:
        """Say that everything is loaded."""
        self.send(ChildReady())

    def send(self, message: object) -> None:
        """Send the program a message."""
        self._connection.send(message)

    def hear(self, *, wait: bool) -> list[Any]:
        """Receive all messages that have come; to be called at least every few seconds.

        Args:
            wait: whether to wait for a message if there is none.

        Raises:
            EOFError: the program has ended, or closed the connection.
            MemoryError: this process has taken too much memory.
        """
        if wait and not self._connection.poll():
            self.send(ChildIdle(self._heard))
            self._connection.poll(None)
        found = []
        while self._connection.poll():
            found.append(self._connection.recv())
        self._heard += len(found)
        if time.monotonic() - self._beat >= BEAT_S:
            self.send(ChildBusy())
            self._beat = time.monotonic()
            if self.memory_mb is not None and peak_memory_mb() > self.memory_mb:
                raise MemoryError(f"it took more than {self.memory_mb} MB of memory")
        return found


class Child(Generic[S]):
    """The program's end: one thread hears the child, and one speaks to it.

    Args:
        serve: the life of the process, a function of a module's top level; ends with the connection. It
            calls `Line.ready` when it has loaded everything.
        setup: its second argument.
        on_message: called on the hearing thread with every message.
        on_end: called there once with the reason if the child ends by itself.
        behind: it takes only processor time that nothing else wants.

    Attributes:
        ready: set when the child has loaded everything.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(
        self,
        serve: Callable[[Line, S], None],
        setup: S,
        on_message: Callable[[Any], None],
        on_end: Callable[[str], None],
        *,
        behind: bool = True,
    ) -> None:
        self.ready = threading.Event()
        self._on_message, self._on_end = on_message, on_end
        # spawned: a fork would copy the locks of threads and the state of the kernels
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_live, args=(theirs, startup(), serve, setup, behind), daemon=True
        )
        self._process.start()
        theirs.close()  # so that each end notices when the other is gone
        self._closed = False
        self._sent = self._done = 0  # messages, and those that the child has dealt with
        self._heard_at = time.monotonic()
        self._outbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        for work in (self._hear, self._speak):
            threading.Thread(target=work, name="child", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid

    @property
    def idle(self) -> bool:
        """Whether it has dealt with every message."""
        return self._done == self._sent

    @property
    def hangs(self) -> bool:
        """Whether it has work and has been silent for too long."""
        patience = SILENT_S if self.ready.is_set() else START_S
        return not self.idle and time.monotonic() - self._heard_at > patience

    def send(self, message: object) -> None:
        """Send it a message; returns at once."""
        if self.idle:
            self._heard_at = time.monotonic()
        self._sent += 1
        self._outbox.put(message)

    def close(self) -> None:
        """End the process, even if it is stopped or hangs; returns at once."""
        self._closed = True
        self._outbox.put(None)
        self._process.kill()

    def join(self, timeout_s: float = _STOP_S) -> bool:
        """Wait for a closed process to end; return whether it has."""
        self._process.join(timeout_s)
        return not self._process.is_alive()

    def _hear(self) -> None:
        reason = "it died"
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = self._connection.recv()
                self._heard_at = time.monotonic()
                match message:
                    case ChildReady():
                        self.ready.set()
                    case ChildIdle(heard):
                        self._done = heard
                    case ChildFailed():
                        reason = message.reason
                if not self._closed:
                    self._on_message(message)
        if not self._closed:
            self._on_end(reason)

    def _speak(self) -> None:
        with contextlib.suppress(OSError):  # it has ended, which the hearing thread notices
            while (message := self._outbox.get()) is not None:
                self._connection.send(message)


def _live(
    connection: Connection, begin: Startup, serve: Callable[[Line, S], None], setup: S, behind: bool
) -> None:
    """The process, from start to end."""
    begin_worker(begin)
    if behind:
        step_back()
    with contextlib.suppress(EOFError, ConnectionError):  # the program has ended
        try:
            serve(Line(connection), setup)
        except MemoryError as error:
            connection.send(ChildFailed(str(error) or "it ran out of memory"))
        except BotError as error:
            connection.send(ChildFailed(str(error)))
