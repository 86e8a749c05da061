"""Answers questions in processes of their own, each within a time limit.

A question that takes too long, or ends its process, costs its asker an error; others go on in another
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import structlog

from kit.errors import DeadlineExceeded, ModelError
from kit.workers.child import Child, ChildBusy, ChildIdle, ChildReady, Line

S = TypeVar("S")

PROCESSES: Final = 2
"""While one hangs, the other answers."""
ANSWER_S: Final = 15.0
"""An answer takes a fraction of a second; on a crowded machine a few."""
WAITING: Final = 32
"""Questions that may wait; they take a few seconds together."""
RESTART_S: Final = 5.0
_STOPPING: Final = "Suzaku is stopping"

log = structlog.get_logger(__name__)


class _Answerer(Generic[S]):
    """A process, and the question that it is answering.

    Attributes:
        answer: None while it has no question.
    """

    def __init__(self, owner: Questions[S]) -> None:
        self.answer: asyncio.Future[Any] | None = None
        self.ended = False
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self.child = Child(owner.serve, owner.setup, self._heard, self._ended, behind=False)

    def _heard(self, message: object) -> None:
        if not isinstance(message, ChildBusy | ChildIdle):
            self._call(self._owner.heard, message)

    def _ended(self, reason: str) -> None:
        self._call(self._owner.lost, reason)

    def _call(self, method: Callable[[_Answerer[S], Any], None], content: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(method, self, content)


class Questions(Generic[S]):
    """The processes; made on a running event loop.

    Args:
        serve: the life of each process: after `Line.ready` it sends one answer to each message.
        setup: its second argument.
        answer_s: time limit of an answer.

    Attributes:
        ready: done when the first process is; its exception says why none can be.
    """

    def __init__(self, serve: Callable[[Line, S], None], setup: S, answer_s: float = ANSWER_S) -> None:
        self.serve, self.setup = serve, setup
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answer_s = answer_s
        self._closed = False
        self._free: asyncio.Queue[_Answerer[S] | None] = asyncio.Queue()
        self._waiting = 0
        self._all = {_Answerer(self) for _ in range(PROCESSES)}

    async def answer(self, question: object) -> Any:
        """The answer of a process that is free, or soon is.

        A question that is cancelled while it waits is never answered.

        Raises:
            DeadlineExceeded: it takes too long.
            ModelError: its process died, all processes have been ended, or too many questions wait.
        """
        answerer = await self._one()
        # to its end even if nobody waits for it any more, as its process is not free before
        return await asyncio.shield(self._answer_of(answerer, question))

    async def _answer_of(self, answerer: _Answerer[S], question: object) -> Any:
        if self._closed:
            raise ModelError(_STOPPING)
        answerer.answer = asyncio.get_running_loop().create_future()
        answerer.child.send(question)
        try:
            async with asyncio.timeout(self._answer_s):
                found = await answerer.answer
        except TimeoutError:
            log.warning("ask.late", limit_s=self._answer_s)
            self._replace(answerer)
            raise DeadlineExceeded(
                f"no answer within {self._answer_s:g} s; ask again when the machine is less busy, or change "
                "the position"
            ) from None
        answerer.answer = None
        self._release(answerer)
        return found

    def close(self) -> None:
        """End all processes at once; questions without an answer get an error."""
        self._closed = True
        for answerer in self._all:
            answerer.child.close()
            self._fail(answerer.answer, _STOPPING)
            answerer.ended = True
        self._free.put_nowait(None)

    # --- called on the event loop for the threads that hear the processes -----------------------------------

    def heard(self, answerer: _Answerer[S], message: object) -> None:
        """Note that a process is ready, or pass on its answer."""
        if isinstance(message, ChildReady):
            if not self.ready.done():
                self.ready.set_result(None)
            self._release(answerer)
        elif answerer.answer is not None and not answerer.answer.done():
            answerer.answer.set_result(message)

    def lost(self, answerer: _Answerer[S], reason: str) -> None:
        """Start another process for one that ended by itself."""
        if self._closed or answerer.ended:
            return
        log.warning("ask.process_lost", reason=reason)
        if not self.ready.done():
            self.ready.set_exception(ModelError(f"the policy cannot be asked: {reason}"))
        self._fail(answerer.answer, "the process that answers has ended; ask again, or change the position")
        self._replace(answerer)

    def _replace(self, answerer: _Answerer[S]) -> None:
        answerer.ended = True
        answerer.child.close()
        self._all.discard(answerer)
        # one that cannot even start is not started in a loop
        pause_s = 0.0 if answerer.child.ready.is_set() else RESTART_S
        asyncio.get_running_loop().call_later(pause_s, self._start)

    def _start(self) -> None:
        if not self._closed:
            self._all.add(_Answerer(self))

    async def _one(self) -> _Answerer[S]:
        """A process that is free."""
        if self._waiting >= WAITING:
            raise ModelError(f"{WAITING} questions are waiting; ask again in a few seconds")
        self._waiting += 1
        try:
            while (answerer := await self._free.get()) is not None and answerer.ended:
                pass
        finally:
            self._waiting -= 1
        if answerer is None:
            self._free.put_nowait(None)
            raise ModelError(_STOPPING)
        return answerer

    def _release(self, answerer: _Answerer[S]) -> None:
        if not answerer.ended:
            self._free.put_nowait(answerer)

    @staticmethod
    def _fail(future: asyncio.Future[Any] | None, reason: str) -> None:
        if future is not None and not future.done():
            future.set_exception(ModelError(reason))
