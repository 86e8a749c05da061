"""Compile every kernel, or load it, before a game needs one: ``python -m game.warmup`` does it now."""

from __future__ import annotations

from collections.abc import Callable

from game.events import Draw, GameEvent, StartRound
from game.jit import WARM_UPS
from game.packing import pack_all
from game.rules import legal_actions
from game.state import apply, fold_packed, new_round


def warm_up(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Make the kernels of all modules imported so far ready; at the first start this takes a minute or so.

    Args:
        progress: Called with the module at work, how many are done, and how many there are; once more at the
            end with an empty name.
    """
    steps = {**WARM_UPS, "game.state": _fold_and_ask}
    for done, (name, step) in enumerate(steps.items()):
        if progress:
            progress(name, done, len(steps))
        step()
    if progress:
        progress("", len(steps), len(steps))


def _fold_and_ask() -> None:
    """Deal a round and ask the dealer: the fold and the legal actions are one kernel each."""
    hands = [tuple(range(start, start + 52, 4)) for start in range(4)]
    deal: list[GameEvent] = [
        StartRound(0, 0, 0, 0, (25000,) * 4, 135, (hands[0], hands[1], hands[2], hands[3])),
        Draw(0, 52),
    ]
    record = new_round()
    for event in deal:
        apply(record, event)
    fold_packed(new_round(), pack_all(deal))
    legal_actions(record, 0)


if __name__ == "__main__":
    warm_up(lambda name, done, total: print(f"kernels: {done}/{total} {name}", flush=True))
