"""A worker thread for decisions, so that they never block the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from kit.errors import ModelError

T = TypeVar("T")


class _Job(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._work = work
        self._context = contextvars.copy_context()  # log context follows the work

    def run(self) -> bool:
        """Do the work; return False if it ended the thread."""
        if not self.future.set_running_or_notify_cancel():
            return True
        try:
            result = self._context.run(self._work)
        except Exception as exc:  # worker loop: the error is passed to the caller that awaits the job
            self.future.set_exception(exc)
        except BaseException as exc:
            # SystemExit and similar would stop the event loop that awaits the result.
            self.future.set_exception(ModelError(f"the worker died: {type(exc).__name__}"))
            return False
        else:
            self.future.set_result(result)
        return True


class WorkerThread:
    """Runs one job after another on a daemon thread; a hung thread can be abandoned.

    A thread pool would wait for a hung job when the program exits; this class does not.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread still takes jobs."""
        return self._thread.is_alive()

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Queue ``work``; the future belongs to the running event loop."""
        job = _Job(work)
        future = asyncio.wrap_future(job.future)
        self._jobs.put(job)
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
            if not job.run():
                return
