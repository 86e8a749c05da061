"""Compile or load every kernel before a game needs it; ``python -m game.warmup`` does so for all packages."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from game.events import Draw, GameEvent, StartRound, four
from game.packing import pack_all
from game.rules import legal_actions
from game.state import apply, fold_packed, new_round
from kit.cache import is_kept
from kit.jit import WARM_UPS, watched_compiler
from kit.processes import step_back
from kit.workers.ordered import default_workers

OWN_PACKAGES: Final = ("kit", "game", "policies", "replays", "learning", "bot")
LATER: Final = "--later"
"""First argument of a process that compiles what nobody waits for."""


def warm_up(without: Collection[str] = ()) -> None:
    """Prepare the kernels of all modules imported so far.

    Once something must be compiled, further processes, one per core, compile the same kernels from other
    starting points. Each finds what the others have compiled in the cache.

    Args:
        without: modules whose kernels nobody calls here.
    """
    modules = [module for module in WARM_UPS if module not in without]
    with _helpers(modules) as start, watched_compiler(lambda _name: start()):
        for module in modules:
            WARM_UPS[module]()
        _fold_and_ask()


@contextlib.contextmanager
def _helpers(modules: Sequence[str]) -> Iterator[Callable[[], None]]:
    """A function that starts the other processes when it is first called; they end with the block."""
    processes = default_workers()
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        while is_kept() and len(running) < processes - 1:
            at = len(modules) * (len(running) + 1) // processes
            helper = _started([*modules[at:], *modules[:at]])
            if helper is None:  # without help it takes longer
                return
            running.append(helper)

    try:
        yield start
    finally:
        for helper in running:
            helper.terminate()
        for helper in running:
            helper.wait()


def compile_later(modules: Sequence[str]) -> None:
    """Compile the kernels of modules beside this program, at most until its end, in the time it leaves."""
    process = _started([LATER, *modules]) if is_kept() else None
    if process is not None:
        atexit.register(process.terminate)


def _started(words: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Another process of this module, None if the system has nothing left for it."""
    nothing = subprocess.DEVNULL
    # a `game.py` in the folder in which a user started this program is not run
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    with contextlib.suppress(OSError):
        return subprocess.Popen(  # noqa: S603 - this program, with names of modules
            [sys.executable, "-P", "-m", "game.warmup", *words],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
    return None


def modules_with_kernels(packages: Sequence[str] = OWN_PACKAGES) -> list[str]:
    """The modules in these packages that register a warm-up, imported or not."""
    root = Path(__file__).parents[1]
    files = [file for package in packages for file in sorted((root / package).rglob("*.py"))]
    return [
        ".".join(file.relative_to(root).with_suffix("").parts)
        for file in files
        if "\n@warms_up\n" in file.read_text(encoding="utf-8")
    ]


def _fold_and_ask() -> None:
    """Deal a round and ask the dealer: the fold and the legal actions are one kernel each."""
    hands = four(tuple(range(start, start + 52, 4)) for start in range(4))
    deal: list[GameEvent] = [StartRound(0, 0, 0, 0, (25000,) * 4, 135, hands), Draw(0, 52)]
    record = new_round()
    for event in deal:
        apply(record, event)
    fold_packed(new_round(), pack_all(deal))
    legal_actions(record, 0)


def _main(words: Sequence[str]) -> None:
    """Compile the kernels of these modules in this order, alone; if none is named, of all, by all cores."""
    modules = [word for word in words if word != LATER]
    if LATER in words:
        step_back()
    for module in modules or modules_with_kernels():
        importlib.import_module(module)
    if not modules:
        with watched_compiler(lambda name: print(f"compiling {name}", flush=True)):
            warm_up()
        return
    for module in modules:
        WARM_UPS[module]()
    _fold_and_ask()


if __name__ == "__main__":
    _main(sys.argv[1:])
