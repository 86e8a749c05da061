"""A server beside the program, which runs its own event loop on the thread of a test."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

PATIENCE_S = 300.0
T = TypeVar("T")


@contextlib.contextmanager
def beside(opened: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Open something on a loop and a thread of its own, and close it there."""
    up, down = Future[T](), threading.Event()

    async def serve() -> None:
        async with opened as given:
            up.set_result(given)
            await asyncio.to_thread(down.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        yield up.result(PATIENCE_S)
    finally:
        down.set()
        thread.join(PATIENCE_S)
