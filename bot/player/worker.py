"""A worker thread for decisions, so that they never block the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from kit.errors import ModelError

T = TypeVar("T")


class WorkerThread:
    """Runs one job after another on a daemon thread; a hung thread can be abandoned.

    A thread pool would wait for a hung job when the program exits; this class does not.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._jobs: queue.SimpleQueue[Callable[[], bool] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread still takes jobs."""
        return self._thread.is_alive()

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Queue ``work``; the future belongs to the running event loop."""
        done: Future[T] = Future()
        context = contextvars.copy_context()  # log context follows the work

        def run() -> bool:
            """Do the work; return False if it ended the thread."""
            if not done.set_running_or_notify_cancel():
                return True
            try:
                result = context.run(work)
            except Exception as exc:  # worker loop: the error is passed to the caller that awaits the job
                done.set_exception(exc)
            except BaseException as exc:
                # SystemExit and similar would stop the event loop that awaits the result.
                done.set_exception(ModelError(f"the worker died: {type(exc).__name__}"))
                return False
            else:
                done.set_result(result)
            return True

        future = asyncio.wrap_future(done)
        self._jobs.put(run)
        return future

    def close(self) -> None:
        """Let the thread end after its current job; does not wait for it."""
        self._jobs.put(None)

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end; return whether it did."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _loop(self) -> None:
        while (job := self._jobs.get()) is not None:
            if not job():
                return
