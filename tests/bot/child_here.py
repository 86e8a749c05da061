"""The life of a child on a thread of this process; `tests/kit/workers` starts real ones."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from kit.errors import BotError
from kit.workers.child import ChildReady


class ChildHere:
    """In place of `kit.workers.child.Child`, and of the `Line` that its life is given."""

    hangs = False

    def __init__(
        self,
        serve: Callable[[Any, Any], None],
        setup: Any,
        on_message: Callable[[Any], None],
        on_end: Callable[[str], None],
        *,
        behind: bool = True,
    ) -> None:
        self.ready = threading.Event()
        self.line = LineHere(self, on_message)

        def live() -> None:
            with contextlib.suppress(EOFError):
                try:
                    serve(self.line, setup)
                except BotError as error:
                    on_end(str(error))

        self._thread = threading.Thread(target=live, daemon=True)
        self._thread.start()

    def send(self, message: object) -> None:
        self.line.inbox.put(message)

    def close(self) -> None:
        self.line.inbox.put(None)

    def join(self, timeout_s: float = 60.0) -> bool:
        self._thread.join(timeout_s)
        return not self._thread.is_alive()


class LineHere:
    """The child's end."""

    def __init__(self, child: ChildHere, send: Callable[[Any], None]) -> None:
        self.inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.send = send
        self._child = child

    def ready(self) -> None:
        self._child.ready.set()
        self.send(ChildReady())

    def hear(self, *, wait: bool) -> list[Any]:
        found = [self.inbox.get()] if wait else []
        while not self.inbox.empty():
            found.append(self.inbox.get())
        if any(message is None for message in found):
            raise EOFError
        return found
