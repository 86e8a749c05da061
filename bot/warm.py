"""Compiles or loads every kernel before the first move, and shows how far it has come."""

from __future__ import annotations

import time
from typing import Final

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from game.table import Table
from game.warmup import warm_up
from policies.decision import Decision, decide
from policies.heuristic import HeuristicPolicy

QUIET_S: Final = 2.0
"""Away from a terminal a line is logged this often at most; a start from the cache logs none."""

log = structlog.get_logger(__name__)


def warm_up_visibly(console: Console | None = None) -> float:
    """Make every kernel ready; returns the seconds it took."""
    console = console or Console(stderr=True)
    began = time.monotonic()
    if console.is_terminal:
        _with_bar(console)
    else:
        _with_lines()
    first_decision()
    seconds = time.monotonic() - began
    log.info("kernels.ready", seconds=round(seconds, 1))
    return seconds


def first_decision() -> Decision:
    """Let the policy make one real decision, the dealer's first discard: whatever is lazy is loaded by it."""
    table = Table(seed=0)
    player = table.waiting()[0]
    return decide(table.state, player, table.legal(player), HeuristicPolicy(), table.length)


def _with_bar(console: Console) -> None:
    columns = (TextColumn("compiling (first start only)"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), TextColumn("{task.description}"), console=console, transient=True
    ) as bar:
        task = bar.add_task("", total=None)
        warm_up(lambda name, done, total: bar.update(task, description=name, completed=done, total=total))


def _with_lines() -> None:
    last = time.monotonic()

    def tell(name: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET_S:
            last = time.monotonic()
            log.info("kernels.compiling", kernel=name, done=done, total=total, hint="on the first start only")

    warm_up(tell)
