"""Compile or load every kernel before the first move, and show the progress."""

from __future__ import annotations

import contextlib
import importlib
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

from bot.startup.models import try_out
from game.table.table import Table
from game.warmup import compile_later, modules_with_kernels, warm_up
from kit.jit import WARM_UPS, kernels, watched_compiler
from policies.flow.decisions import Decision
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide

PATIENCE_S: Final = 2.0
"""Loading from the cache takes less, and prints nothing."""
REMIND_S: Final = 5.0
PLAYED: Final = ("game", "policies")
"""Packages whose kernels playing, reviewing and asking use; those of ``learning`` are for training."""
IDLE: Final = frozenset({"game.scoring.fast", "policies.nets.quantized", "policies.reward.encoding"})
"""Modules with functions that playing imports, but only play-outs, products of bytes and reviews call."""
DURATION: Final = "first start and after updates only; takes half a minute to 2 minutes on two free cores"
"""Duration of the compilation; docs/results.md has a figure."""

OnKernel: TypeAlias = Callable[[str, int, int], None]
"""Called with the kernel being compiled, the number of kernels ready, and their total."""

log = structlog.get_logger(__name__)


def warm_up_visibly(
    terminal: TextIO | None = None, policy: Policy | None = None, *, rest_later: bool = False
) -> float:
    """Prepare everything for the first move; return the seconds it took.

    Once something had to be compiled, what the other commands need is compiled, too.

    Args:
        terminal: stream for the progress bar, if it is a terminal; default stderr.
        policy: the policy that will play; the rules if None.
        rest_later: whether to go on while another process compiles what only other commands need.

    Raises:
        ConfigError: the policy gives no usable answer.
    """
    stream = terminal or sys.stderr
    began = time.monotonic()
    showing = _bar(stream) if stream.isatty() else _reminders()
    compiled = False

    def compiling(name: str) -> None:
        nonlocal compiled
        compiled = True
        on_kernel(name, *kernels())

    with showing as on_kernel, watched_compiler(compiling):
        warm_up(without=IDLE if rest_later else frozenset())
        try_out(policy or HeuristicPolicy())
        first_decision(policy or HeuristicPolicy())
        if compiled and rest_later:
            needed = WARM_UPS.keys() - IDLE
            compile_later([module for module in modules_with_kernels(PLAYED) if module not in needed])
        elif compiled:
            for module in modules_with_kernels(PLAYED):
                importlib.import_module(module)
            warm_up()
    seconds = time.monotonic() - began
    log.info("kernels.ready", seconds=round(seconds, 1))
    return seconds


def first_decision(policy: Policy) -> Decision:
    """Let the policy make one real decision, the dealer's first discard; this completes any lazy loading."""
    table = Table(seed=0)
    player = table.waiting()[0]
    return decide(table.observe(player), policy)


@contextlib.contextmanager
def _bar(stream: TextIO) -> Iterator[OnKernel]:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20))
    more = (MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[at]}"))
    with Progress(*columns, *more, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("getting ready", total=None, at="")

        def on_kernel(name: str, done: int, total: int) -> None:
            if bar.tasks[0].total is None:
                bar.console.print(f"Compiling kernels: {DURATION}.", highlight=False, soft_wrap=True)
            module = name.rpartition(".")[0]
            bar.update(task, description="compiling", at=module, completed=done, total=total)

        yield on_kernel


@contextlib.contextmanager
def _reminders() -> Iterator[OnKernel]:
    """A log line every few seconds if preparation takes long."""
    ended = threading.Event()
    at: dict[str, str | int] = {}

    def remind() -> None:
        wait_s = PATIENCE_S
        while not ended.wait(wait_s):
            if at:
                log.info("kernels.compiling", **at, hint=DURATION)
            else:
                log.info("kernels.loading")
            wait_s = REMIND_S

    thread = threading.Thread(target=remind, name="reminders", daemon=True)
    thread.start()
    try:
        yield lambda name, done, total: at.update(kernel=name, done=done, of=total)
    finally:
        ended.set()
        thread.join()
