"""Compiles or loads every kernel before the first move, and shows how far it has come."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, TextIO, TypeAlias

import structlog
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from bot.config import DecisionSection
from bot.logs import set_up_logs
from bot.models import load, try_out
from game.table import Table
from game.warmup import warm_up
from policies.decision import Decision, decide
from policies.heuristic import HeuristicPolicy
from policies.slots import Policy

PATIENCE_S: Final = 2.0
"""A start from the cache takes less and says nothing."""
REMIND_S: Final = 5.0

Tell: TypeAlias = Callable[[str, int, int], None]

log = structlog.get_logger(__name__)


def warm_up_visibly(terminal: TextIO | None = None, policy: Policy | None = None) -> float:
    """Make everything ready for the first move; returns the seconds it took.

    Args:
        terminal: where a bar is drawn if it is one, else stderr.
        policy: who will make it; the rules if None.

    Raises:
        ConfigError: the policy gives no usable answer.
    """
    stream = terminal or sys.stderr
    began = time.monotonic()
    with _bar(stream) if stream.isatty() else _reminders() as tell:
        _all_steps(tell, policy or HeuristicPolicy())
    seconds = time.monotonic() - began
    log.info("kernels.ready", seconds=round(seconds, 1))
    return seconds


def first_decision(policy: Policy) -> Decision:
    """Let the policy make one real decision, the dealer's first discard: whatever is lazy is loaded by it."""
    table = Table(seed=0)
    player = table.waiting()[0]
    return decide(table.state, player, table.legal(player), policy, table.length)


def _all_steps(tell: Tell, policy: Policy) -> None:
    steps = 0

    def one_more(name: str, done: int, total: int) -> None:
        nonlocal steps
        steps = total + 1
        tell(name, done, steps)

    warm_up(one_more)
    tell("first decision", steps - 1, steps)
    try_out(policy)
    first_decision(policy)
    tell("", steps, steps)


@contextlib.contextmanager
def _bar(stream: TextIO) -> Iterator[Tell]:
    columns = (SpinnerColumn(), TextColumn("getting ready (a minute on the first start)"), BarColumn())
    more = (MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, *more, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda name, done, total: bar.update(task, description=name, completed=done, total=total)


@contextlib.contextmanager
def _reminders() -> Iterator[Tell]:
    """A log line now and then while it takes long."""
    ended = threading.Event()
    at = {"step": "", "done": 0, "of": 0}

    def remind() -> None:
        wait_s = PATIENCE_S
        while not ended.wait(wait_s):
            log.info("kernels.compiling", **at, hint="about a minute, on the first start only")
            wait_s = REMIND_S

    thread = threading.Thread(target=remind, name="reminders", daemon=True)
    thread.start()
    try:
        yield lambda name, done, total: at.update(step=name, done=done, of=total)
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    set_up_logs()
    warm_up_visibly(policy=load(DecisionSection()))
