"""A thinking process that says what a test wants, on the caller's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from bot.adaptation.messages import WorkerSetup
from bot.adaptation.search import SearchRequest
from bot.adaptation.thoughts import FromWorker, ToWorker
from kit.workers.child import ChildReady


class MadeUpProcess:
    """In place of the process: keeps what it is told, and says what the test wants.

    Attributes:
        all: those made, oldest first.
    """

    all: ClassVar[list[MadeUpProcess]] = []

    def __init__(
        self,
        _: Any,
        setup: WorkerSetup,
        on_message: Callable[[FromWorker | ChildReady], None],
        on_end: Callable[[str], None],
    ) -> None:
        self.say, self.die = on_message, on_end
        self.told: list[ToWorker] = []
        self.hangs = self.closed = False
        self.ready = self
        MadeUpProcess.all.append(self)

    def is_set(self) -> bool:
        return True

    def send(self, message: ToWorker) -> None:
        self.told.append(message)

    def close(self) -> None:
        self.closed = True

    def join(self) -> bool:
        return True

    def request(self) -> SearchRequest:
        (*_, asked) = (each for each in self.told if isinstance(each, SearchRequest))
        return asked
