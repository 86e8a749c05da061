"""`suzaku eval cfr`: CFR on a game with a known answer."""

from __future__ import annotations

import time
from typing import Final

import msgspec

from game.errors import ConfigError
from game.reports import write_report
from learning.cfr.known_games import KNOWN_GAMES
from learning.cfr.regrets import update_of
from learning.cfr.response import exploitability, value_of
from learning.cfr.solver import TreeSolver
from learning.cfr.tree import lay_out

_CHECKS: Final = 10


class KnownPoint(msgspec.Struct, frozen=True):
    """How far a solution is after some iterations."""

    iterations: int
    value: float
    exploitability: float


class KnownGameReport(msgspec.Struct, frozen=True):
    """A game solved.

    Attributes:
        game: its name.
        known_value: for player 0.
        source: of that value.
        update: variant of CFR.
        external: whether it was sampled.
        nodes: of the game's tree.
        infosets: information sets of both players.
        seconds: for all iterations.
        points: the average strategy on the way.
        equilibrium: probabilities of the actions in each information set, in the end.
    """

    game: str
    known_value: float
    source: str
    update: str
    external: bool
    nodes: int
    infosets: int
    seconds: float
    points: list[KnownPoint]
    equilibrium: dict[str, list[float]]


def solve(game: str, *, update: str, external: bool, iterations: int, seed: int) -> KnownGameReport:
    """Solve a game.

    Args:
        game: name in `learning.cfr.known_games.KNOWN_GAMES`.
        update: variant of CFR.
        external: use external sampling.
        iterations: number of iterations.
        seed: of the samples.

    Raises:
        ConfigError: there is no such game or variant.
    """
    if game not in KNOWN_GAMES:
        raise ConfigError(f"--game: found {game}, expected {' or '.join(KNOWN_GAMES)}")
    known = KNOWN_GAMES[game]
    tree, information = lay_out(known.rules)
    solver = TreeSolver(tree, update_of(update), external=external, seed=seed)
    points: list[KnownPoint] = []
    seconds = 0.0
    for due in sorted({max(1, iterations * part // _CHECKS) for part in range(1, _CHECKS + 1)}):
        begun = time.monotonic()
        solver.run(due - solver.iterations)
        seconds += time.monotonic() - begun
        average = solver.average()
        points.append(KnownPoint(due, value_of(tree, average), exploitability(tree, average).value))
    equilibrium = {
        str(known_to): [round(float(share), 4) for share in average[number, : tree.actions[number]]]
        for number, known_to in enumerate(information)
    }
    return KnownGameReport(
        game,
        known.value,
        known.source,
        update,
        external,
        len(tree.player),
        len(information),
        seconds,
        points,
        equilibrium,
    )


def print_known(report: KnownGameReport, *, as_json: bool) -> int:
    """Print the report; return the exit code."""
    write_report(report, _text, as_json=as_json)
    return 0


def _text(report: KnownGameReport) -> str:
    sampling = ", external sampling" if report.external else ""
    lines = [
        f"{report.game}: {report.nodes:,} nodes, {report.infosets} information sets; "
        f"{report.update}{sampling}, {report.points[-1].iterations:,} iterations in {report.seconds:.2f} s",
        f"known value {report.known_value:.6f} ({report.source})",
        "",
        "iterations      value   error  exploitability",
    ]
    lines += [
        f"{point.iterations:>10,} {point.value:>10.6f} {abs(point.value - report.known_value):>7.0e} "
        f"{point.exploitability:>15.6f}"
        for point in report.points
    ]
    return "\n".join(lines)
