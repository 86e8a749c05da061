"""The thinking process as the program sees it: started once, warm before the game, ended with the program.

With it start the helpers that play out a share of its rounds; they end with it.
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
from typing import Final, TypeAlias

from bot.adaptation.messages import FromWorker, ToWorker, WorkerIdle, WorkerReady, WorkerSetup
from game.processes import startup

Serve: TypeAlias = Callable[..., None]
"""Takes a connection to the program, its startup, the setup, and a connection to each helper."""

START_S: Final = 300.0
"""Longer than it takes to compile every kernel."""
SILENT_S: Final = 60.0
"""A process that has work and says nothing for so long hangs; on a crowded machine it may take long."""
_STOP_S: Final = 2.0


class ThinkingProcess:
    """One process and its helpers.

    A thread hears it, and one speaks to it, so that the program never waits.

    Args:
        setup: what it does, and with what.
        on_message: called on the hearing thread with what it says.
        on_end: called there once when the process has ended by itself.
        serve: the life of the process, a function of a module's top level; the usual one by default.

    Attributes:
        ready: set once it is warm.
    """

    def __init__(
        self,
        setup: WorkerSetup,
        on_message: Callable[[FromWorker], None],
        on_end: Callable[[], None],
        serve: Serve | None = None,
    ) -> None:
        # the program itself needs none of them
        from bot.adaptation.helper import help_out  # noqa: PLC0415
        from bot.adaptation.worker import serve as usual  # noqa: PLC0415

        self.ready = threading.Event()
        self._on_message, self._on_end = on_message, on_end
        # spawned: a fork would copy the locks of threads and the state of the kernels
        self._context = multiprocessing.get_context("spawn")
        pairs = [self._context.Pipe() for _ in range(setup.processes - 1)]
        self._connection, theirs = self._context.Pipe()
        helpers, ends = (tuple(side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
        self._process = self._start(serve or usual, theirs, setup, *helpers)
        self._helpers = [self._start(help_out, end, setup) for end in ends]
        for connection in (theirs, *helpers, *ends):  # theirs alone, so that they notice when the other ends
            connection.close()
        self._closed = False
        self._sent = self._done = 0  # messages, and those of them that it has nothing left to do for
        self._heard_at = time.monotonic()
        self._outbox: queue.SimpleQueue[ToWorker | None] = queue.SimpleQueue()
        for work in (self._hear, self._speak):
            threading.Thread(target=work, name="thinking", daemon=True).start()

    def _start(
        self, serve: Serve, connection: Connection, setup: WorkerSetup, *more: Connection
    ) -> SpawnProcess:
        process: SpawnProcess = self._context.Process(
            target=serve, args=(connection, startup(), setup, *more), daemon=True, name="thinking"
        )
        process.start()
        return process

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid

    @property
    def hangs(self) -> bool:
        """Whether it has work and has been silent for too long."""
        patience = SILENT_S if self.ready.is_set() else START_S
        return self._done < self._sent and time.monotonic() - self._heard_at > patience

    def send(self, message: ToWorker) -> None:
        """Tell it something; returns at once."""
        if self._done == self._sent:
            self._heard_at = time.monotonic()
        self._sent += 1
        self._outbox.put(message)

    def close(self) -> None:
        """End the process, even if it is stopped or hangs; returns at once."""
        self._closed = True
        self._outbox.put(None)
        for process in (self._process, *self._helpers):
            process.kill()

    def join(self, timeout_s: float = _STOP_S) -> bool:
        """Wait for a closed process to end; return whether it has."""
        self._process.join(timeout_s)
        for process in self._helpers:
            process.join(timeout_s)
        return not any(process.is_alive() for process in (self._process, *self._helpers))

    def _hear(self) -> None:
        connection: Connection = self._connection
        with contextlib.suppress(EOFError, OSError):
            while True:
                message: FromWorker = connection.recv()
                self._heard_at = time.monotonic()
                if isinstance(message, WorkerIdle):
                    self._done = message.heard
                if isinstance(message, WorkerReady):
                    self.ready.set()
                if not self._closed:
                    self._on_message(message)
        if not self._closed:
            self._on_end()

    def _speak(self) -> None:
        with contextlib.suppress(OSError):  # it has ended, which the hearing thread notices
            while (message := self._outbox.get()) is not None:
                self._connection.send(message)
