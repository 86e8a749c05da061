"""`suzaku bench game`: the speed of the rules, and their agreement with other libraries."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import msgspec

from game.events import GameEvent
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_ROB, PHASE_TURN
from game.packing import pack_all
from game.rules import legal_actions
from game.state import apply, fold_packed, new_round
from game.table.bench import Agreement, RulesSpeed, bench_shanten, bench_table, compare_shanten, measure
from game.table.table import Table
from kit.jit import warms_up
from kit.reports import write_report
from policies.heuristic.player import HeuristicPolicy
from policies.play.decision import decide

FOLD_GAMES = 10


class GameBench(msgspec.Struct, frozen=True):
    """Everything `suzaku bench game` measures.

    Attributes:
        machine: the machine it ran on.
        speeds: per second on one core.
        agreements: comparisons with other libraries.
    """

    machine: str
    speeds: tuple[RulesSpeed, ...]
    agreements: tuple[Agreement, ...]


def bench_game(seed: int = 0) -> GameBench:
    """Measure shanten, the fold of whole games, and table steps compared with the bare engine."""
    return GameBench(
        machine=f"{platform.machine()}, Python {platform.python_version()}",
        speeds=(*bench_shanten(seed=seed), *bench_fold(seed=seed), *bench_table(seed=seed)),
        agreements=(compare_shanten(seed=seed),),
    )


def bench_fold(games: int = FOLD_GAMES, repeats: int = 7, seed: int = 0) -> list[RulesSpeed]:
    """Fold whole hanchan of the heuristic: packed in one call, and event by event with all legal actions."""
    played = [_game_of(seed + game) for game in range(games)]
    packed = [pack_all(events) for events in played]
    record = new_round()
    return [
        measure(
            "fold", "games", games, lambda: [fold_packed(record, each) for each in packed], repeats=repeats
        ),
        measure("fold and legal actions", "games", games, lambda: _fold_and_ask(played), repeats=repeats),
    ]


def print_bench(bench: GameBench, *, as_json: bool) -> int:
    """Print the figures; return 1 if a comparison found a difference, else 0."""
    write_report(bench, as_json=as_json)
    return int(any(agreement.different for agreement in bench.agreements))


def _game_of(seed: int) -> list[GameEvent]:
    table, policy = Table(seed), HeuristicPolicy()
    while not table.done:
        table.step({player: decide(table.observe(player), policy).action for player in table.waiting()})
    return table.events


def _fold_and_ask(games: Sequence[Sequence[GameEvent]]) -> None:
    record = new_round()
    for events in games:
        for event in events:
            apply(record, event)
            for player in _asked(int(record["phase"]), int(record["turn"]), int(record["last_player"])):
                legal_actions(record, player)


def _asked(phase: int, turn: int, last_player: int) -> Sequence[int]:
    if phase in (PHASE_TURN, PHASE_CALLED):
        return (turn,)
    return [p for p in range(4) if p != last_player] if phase in (PHASE_CLAIM, PHASE_ROB) else ()


@warms_up
def _warm_up() -> None:
    bench_shanten(hands=10, repeats=1)
