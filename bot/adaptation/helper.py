"""A process that plays out a share of the rounds for the thinking process, and that process's side of it."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from bot.adaptation.messages import WorkerSetup
from game.errors import BotError
from game.events import GameEvent
from game.processes import Startup, step_back
from game.table import Table
from game.warmup import warm_up
from game.workers.ordered import peak_memory_mb
from game.workers.pool import begin_worker
from policies.adaptation import PlayedRounds, PolicyAdaptation
from policies.deals.deal import Deals
from policies.deals.view import RoundView
from policies.device import choose_compute, use_one_thread
from policies.thinking import Thinker, load_thinker

START_S: Final = 60.0
"""After the thinking process is ready itself."""
_LOOK_S: Final = 0.01
_PATIENCE: Final = 4.0
"""A helper that takes so many times as long as its share took here, and longer than `_SILENT_S`, hangs."""
_SILENT_S: Final = 10.0

log = structlog.get_logger(__name__)


class ShareOfRounds(msgspec.Struct, frozen=True):
    """To a helper: play this out. It answers once, also where it was told to stop.

    Attributes:
        deals: to play out.
        first: number of the first play-out.
        events: of the game so far.
        weights: of the adaptation so far.
        seed: of the adaptation.
    """

    deals: Deals
    first: int
    events: tuple[GameEvent, ...]
    weights: dict[str, NDArray[np.float32]]
    seed: int


class StopPlaying(msgspec.Struct, frozen=True):
    """To a helper: what it plays out is no longer wanted."""


class HelperReady(msgspec.Struct, frozen=True):
    """From a helper: everything is loaded and tried."""


class SharePlayed(msgspec.Struct, frozen=True):
    """From a helper.

    Attributes:
        played: the share; None if it was told to stop.
    """

    played: PlayedRounds | None


ToHelper: TypeAlias = ShareOfRounds | StopPlaying
FromHelper: TypeAlias = HelperReady | SharePlayed


# --- the process ---------------------------------------------------------------------------------------


def help_out(connection: Connection, begin: Startup, setup: WorkerSetup) -> None:
    """Play rounds out until the thinking process ends or closes the connection.

    Args:
        connection: to the thinking process.
        begin: `game.processes.startup` of the program.
        setup: that of the thinking process.
    """
    begin_worker(begin)
    step_back()
    use_one_thread()
    with contextlib.suppress(EOFError, OSError):  # the thinking process has ended
        try:
            thinker = load_thinker(setup.folder, setup.thinking, choose_compute(setup.device))
            try_adapting(thinker)
            connection.send(HelperReady())
            while True:
                message: ToHelper = connection.recv()
                if isinstance(message, ShareOfRounds):
                    connection.send(_played(message, connection, thinker))
                check_memory(setup)
        except (BotError, MemoryError) as error:
            log.warning("adaptation.helper_ended", reason=str(error) or "it ran out of memory")


def try_adapting(thinker: Thinker) -> None:
    """Adapt to the first discard of a game, so that nothing is loaded or compiled in play."""
    warm_up()
    table = Table(seed=0)
    observation, events = table.observe(table.waiting()[0]), tuple(table.events)
    adaptation = thinker.adaptation(events, 0)
    view = RoundView.of(observation, events)
    thinker.play_out(adaptation, view, 2, 0)
    thinker.learn(adaptation, view, 1)


def check_memory(setup: WorkerSetup) -> None:
    """Give up if this process took too much memory.

    Raises:
        MemoryError: it did.
    """
    if peak_memory_mb() > setup.memory_mb:
        raise MemoryError(f"it took more than {setup.memory_mb} MB of memory")


class _StoppedError(Exception):
    """What is played out is no longer wanted."""


def _played(task: ShareOfRounds, connection: Connection, thinker: Thinker) -> SharePlayed:
    def between() -> None:
        if connection.poll():
            raise _StoppedError

    adaptation = thinker.adaptation(task.events, task.seed)
    adaptation.take_weights(task.weights)
    try:
        return SharePlayed(adaptation.played(task.deals, task.first, between))
    except _StoppedError:
        return SharePlayed(None)


# --- the thinking process's side -----------------------------------------------------------------------


class _Helper:
    """One of them.

    Attributes:
        ready: whether it has loaded everything.
        busy: whether it still has to answer.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection, self.ready, self.busy = connection, False, False
        _send_in_time(connection)

    def hear(self) -> PlayedRounds | None:
        """Take note of what it said last."""
        message: FromHelper = self.connection.recv()
        if isinstance(message, HelperReady):
            self.ready = True
            return None
        self.busy = False
        return message.played


def _send_in_time(connection: Connection) -> None:
    """Let sending to a process that no longer reads fail, where the system can."""
    if sys.platform != "win32":
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.setsockopt(
                socket.SOL_SOCKET,
                socket.SO_SNDTIMEO,
                struct.pack("@ll", int(_SILENT_S), int(_SILENT_S % 1.0 * 1e6)),
            )


class _Share(NamedTuple):
    helper: _Helper
    deals: Deals
    first: int


class Helpers:
    """The processes that play out a share of the rounds. What a lost one leaves undone is done here.

    Args:
        connections: to them.
    """

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._all = [_Helper(connection) for connection in connections]

    def wait_until_ready(self, timeout_s: float = START_S) -> None:
        """Wait until all are ready, or lost.

        Args:
            timeout_s: then those that are ready have to do, for the time being.
        """
        until = time.monotonic() + timeout_s
        while coming := [helper.connection for helper in self._all if not helper.ready]:
            if not wait(coming, until - time.monotonic()):
                break
            self.free()

    def free(self) -> int:
        """How many can be asked now."""
        for helper in tuple(self._all):
            with self._unless_lost(helper):
                while helper.connection.poll():
                    helper.hear()
        return len(self._free)

    @property
    def _free(self) -> list[_Helper]:
        return [helper for helper in self._all if helper.ready and not helper.busy]

    def play(
        self,
        adaptation: PolicyAdaptation,
        deals: Deals,
        events: tuple[GameEvent, ...],
        between: Callable[[], None],
    ) -> None:
        """Play the round out over deals, shared among all processes, and add it to an adaptation.

        Args:
            adaptation: to the round.
            deals: what the player may be facing.
            events: of the game so far.
            between: called now and then; what it raises ends the play-outs, and nothing is added.

        Raises:
            ModelError: a table crashed.
        """
        count, before = min(1 + self.free(), len(deals)), adaptation.figures.playouts
        ends = [len(deals) * number // count for number in range(count + 1)]
        own, *rest = (deals.part(slice(*pair)) for pair in itertools.pairwise(ends))
        shares = [
            _Share(helper, part, before + end * adaptation.settings.replays)
            for helper, part, end in zip(self._free, rest, ends[1:], strict=False)
        ]
        try:
            for share in shares:
                self._ask(share, adaptation, events)
            began = time.monotonic()
            parts = [adaptation.played(own, before, between)]
            until = time.monotonic() + max(_SILENT_S, _PATIENCE * (time.monotonic() - began))
            for share in shares:
                played = self._answer(share, until, between)
                parts.append(played or adaptation.played(share.deals, share.first, between))
        except BaseException:
            self._stop()
            raise
        adaptation.add(deals, parts)

    def _ask(self, share: _Share, adaptation: PolicyAdaptation, events: tuple[GameEvent, ...]) -> None:
        task = ShareOfRounds(share.deals, share.first, events, adaptation.weights, adaptation.seed)
        share.helper.busy = True
        with self._unless_lost(share.helper):
            share.helper.connection.send(task)

    def _answer(self, share: _Share, until: float, between: Callable[[], None]) -> PlayedRounds | None:
        """The share, played out; None if its helper was lost."""
        helper = share.helper
        while helper in self._all:
            between()
            with self._unless_lost(helper):
                if helper.connection.poll(_LOOK_S):
                    return helper.hear()
                if time.monotonic() > until:
                    raise EOFError("it hangs")
        return None

    def _stop(self) -> None:
        for helper in tuple(self._all):
            if helper.busy:
                with self._unless_lost(helper):
                    helper.connection.send(StopPlaying())

    @contextlib.contextmanager
    def _unless_lost(self, helper: _Helper) -> Iterator[None]:
        """Do without the helper from now on if it has ended, or hangs."""
        try:
            yield
        except (EOFError, OSError) as error:
            helper.connection.close()
            self._all.remove(helper)
            log.warning("adaptation.helper_lost", reason=str(error) or "it ended", left=len(self._all))
