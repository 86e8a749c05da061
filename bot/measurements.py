"""`suzaku bench game`, and the output of `suzaku bench features`, `decision` and `adaptation`."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from bot.logs.redaction import clean_text
from game.bench_table import bench_table
from game.events import GameEvent
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_ROB, PHASE_TURN
from game.packing import pack_all
from game.reports import write_json, write_report
from game.rules import legal_actions
from game.rules_bench import Agreement, RulesSpeed, bench_shanten, compare_shanten, measure
from game.state import apply, fold_packed, new_round
from game.table import Table
from policies.decision import decide
from policies.features.encoding_bench import FeatureBench
from policies.heuristic.player import HeuristicPolicy

if TYPE_CHECKING:
    from bot.adaptation.bench import AdaptationBench
    from policies.decision_bench import DecisionBench

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
    write_report(bench, bench_text, as_json=as_json)
    return int(any(agreement.different for agreement in bench.agreements))


def bench_text(bench: GameBench) -> str:
    """The figures as text."""
    lines = _speed_lines(bench.machine, bench.speeds)
    for agreement in bench.agreements:
        line = f"  {agreement.name}: {agreement.cases:,} cases, {agreement.different:,} different"
        lines.append(clean_text(f"{line}; first: {agreement.example}" if agreement.example else line))
    return "\n".join(lines)


def print_features(bench: FeatureBench, *, as_json: bool) -> int:
    """Print the measurement of the encoders; return 0."""
    if as_json:
        write_json(bench)
        return 0
    lines = _speed_lines(bench.machine, bench.speeds)
    lines.append(f"one decision at a time, {bench.decisions:,} decisions:")
    for each in bench.latencies:
        lines.append(f"  {each.name:<32}median {each.median_ms:.3f} ms, p99 {each.p99_ms:.3f} ms")
    print("\n".join(lines))
    return 0


def print_adaptation(bench: AdaptationBench, *, as_json: bool) -> int:
    """Print the measurement of adaptation; return 0."""
    write_report(bench, adaptation_text, as_json=as_json)
    return 0


def adaptation_text(bench: AdaptationBench) -> str:
    """The measurement of adaptation as text."""
    rate = bench.lessons[-1].playouts / bench.lessons[-1].mean_s
    lines = [
        f"{bench.machine}; {bench.cores} cores; sampler: {bench.sampler}",
        f"{rate:.0f} rounds a second, learning included",
        f"  {'rounds':<10}{'seconds':>10}   of each hand",
    ]
    for lesson in bench.lessons:
        each = " ".join(f"{second:.1f}" for second in lesson.seconds)
        lines.append(f"  {lesson.playouts:<10,}{lesson.mean_s:>10.1f}   {each}")
    return "\n".join(lines)


def print_decisions(bench: DecisionBench, *, as_json: bool) -> int:
    """Print the measurement of decisions; return 0."""
    if as_json:
        write_json(bench)
        return 0
    lines = [
        f"{bench.machine}; {bench.cores} cores, {bench.threads} of them used for one position",
        f"{bench.policy}; one position at a time, milliseconds:",
        f"  {'':<10}{'count':>8}{'median':>10}{'p99':>10}{'slowest':>10}{'on a core':>12}{'p99':>10}",
    ]
    for each in (bench.decisions, *bench.slots):
        figures = "".join(f"{value:>10.2f}" for value in (each.median_ms, each.p99_ms, each.most_ms))
        core = f"{each.core_median_ms:>12.2f}{each.core_p99_ms:>10.2f}"
        lines.append(f"  {each.name:<10}{each.count:>8,}{figures}{core}")
    print(clean_text("\n".join(lines), keep_lines=True))
    return 0


def _speed_lines(machine: str, speeds: Sequence[RulesSpeed]) -> list[str]:
    lines = [f"{machine}; per second on one core: minimum, median, maximum of several runs"]
    for speed in speeds:
        figures = "".join(f"{value:>13,.0f}" for value in (speed.minimum, speed.median, speed.maximum))
        lines.append(f"  {speed.name:<32}{figures}  {speed.unit}")
    return lines


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
