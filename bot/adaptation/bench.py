"""`suzaku bench adaptation`: how soon the process that thinks beside a game has adapted to a dealt hand."""

from __future__ import annotations

import platform
import queue
import time
from typing import Final

import msgspec

from bot.adaptation.messages import (
    AdaptedWeights,
    AdaptRequest,
    FromWorker,
    RoundOver,
    WorkerSetup,
)
from bot.adaptation.worker import serve
from game.table.table import Table
from kit.errors import ModelError
from kit.workers.child import START_S, Child, ChildFailed
from kit.workers.ordered import default_workers

_LOOK_S: Final = 0.1
_MARGIN_S: Final = 60.0
"""Beyond the CPU time of a round, until the process is taken to have given up."""


class TimedLesson(msgspec.Struct, frozen=True):
    """A policy that was adapted.

    Attributes:
        playouts: it learned from.
        seconds: after the deal, one for each hand.
    """

    playouts: int
    seconds: tuple[float, ...]


class AdaptationBench(msgspec.Struct, frozen=True):
    """The results of `suzaku bench adaptation`.

    Attributes:
        machine: what it ran on.
        cores: that the program may use.
        sampler: of the hidden tiles.
        lessons: in their order.
    """

    machine: str
    cores: int
    sampler: str
    lessons: tuple[TimedLesson, ...]


def bench_adaptation(setup: WorkerSetup, hands: int, seed: int) -> AdaptationBench:
    """Adapt to hands that were just dealt, one after the other.

    Args:
        setup: of the process.
        hands: number of hands.
        seed: of the first hand's wall.

    Raises:
        ModelError: a process ended, or gave up.
    """
    heard: queue.SimpleQueue[FromWorker | ChildFailed] = queue.SimpleQueue()
    process = Child(serve, setup, heard.put, lambda reason: heard.put(ChildFailed(reason)))
    try:
        began = time.monotonic()
        while not process.ready.wait(_LOOK_S):
            if not heard.empty():
                _next(heard)
            if time.monotonic() - began > START_S:
                raise ModelError(f"the adaptation process is not ready after {START_S:.0f} s")
        found: dict[int, list[float]] = {}
        for number in range(hands):
            table = Table(seed=seed + number)
            observation = table.observe(table.waiting()[0])
            key = (f"hand {number}", 0, 0)
            began = time.monotonic()
            process.send(AdaptRequest(key, observation, tuple(table.events)))
            while True:
                message = _next(heard, setup.seconds + _MARGIN_S)
                if isinstance(message, AdaptedWeights) and message.key == key:
                    found.setdefault(message.progress.playouts, []).append(time.monotonic() - began)
                    if message.progress.playouts >= setup.thinking.playouts:
                        break
            process.send(RoundOver())
    finally:
        process.close()
        process.join()
    return AdaptationBench(
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        cores=default_workers(),
        sampler=setup.thinking.sampler,
        lessons=tuple(TimedLesson(playouts, tuple(seconds)) for playouts, seconds in sorted(found.items())),
    )


def _next(
    heard: queue.SimpleQueue[FromWorker | ChildFailed], longest_s: float = START_S
) -> FromWorker | ChildFailed:
    try:
        message = heard.get(timeout=longest_s)
    except queue.Empty:
        raise ModelError("the adaptation process does not respond; the log has the reason") from None
    if isinstance(message, ChildFailed):
        raise ModelError(f"the adaptation process was lost: {message.reason}")
    return message
