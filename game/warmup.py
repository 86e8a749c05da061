"""Compile or load every kernel before a game needs it; ``python -m game.warmup`` does so now."""

from __future__ import annotations

from game.events import Draw, GameEvent, StartRound
from game.jit import WARM_UPS, watched_compiler
from game.packing import pack_all
from game.rules import legal_actions
from game.state import apply, fold_packed, new_round


def warm_up() -> None:
    """Prepare the kernels of all modules imported so far; compiling them takes a minute or two."""
    for step in WARM_UPS.values():
        step()
    _fold_and_ask()


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
    with watched_compiler(lambda name: print(f"compiling {name}", flush=True)):
        warm_up()
