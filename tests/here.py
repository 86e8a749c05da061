"""What spreads over processes, done in this one: `tests/kit/workers` proves that processes do the same."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kit.workers import pool


@contextmanager
def in_this_process() -> Iterator[None]:
    """For a fixture of more than one test."""

    def results(
        prepare: Callable[[Any], Any],
        setup: Any,
        tasks: Iterable[Any],
        workers: int,
        stop: threading.Event | None = None,
    ) -> Generator[tuple[Any, Any], None, None]:
        return pool.results_here(prepare, setup, tasks, stop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "results", results)
        patch.setattr(os, "nice", lambda _: 0)  # workers give way, tests do not
        yield


@pytest.fixture
def here() -> Iterator[None]:
    """No process is started."""
    with in_this_process():
        yield
