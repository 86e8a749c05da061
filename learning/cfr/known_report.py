"""`suzaku eval cfr`: CFR on a game with a known answer."""

from __future__ import annotations

import time
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from game.options import Seed
from learning.cfr.known_games import KNOWN_GAMES, GameName
from learning.cfr.regrets import UPDATES, Update
from learning.cfr.response import exploitability, value_of
from learning.cfr.solver import TreeSolver
from learning.cfr.tree import lay_out

_CHECKS: Final = 10


class KnownGamePlan(msgspec.Struct, frozen=True):
    """A game to solve.

    Attributes:
        game: the game.
        update: variant of CFR: cfr, plus (CFR+) or linear.
        external: sample chance and the opponent (external sampling).
        iterations: iterations to do.
        seed: seed of the samples.
    """

    game: GameName = "kuhn"
    update: Update = "cfr"
    external: bool = False
    iterations: Annotated[int, Meta(ge=1, le=100_000_000)] = 20_000
    seed: Seed = 0


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

    def __str__(self) -> str:
        """The report for people."""
        sampling = ", external sampling" if self.external else ""
        lines = [
            f"{self.game}: {self.nodes:,} nodes, {self.infosets} information sets; "
            f"{self.update}{sampling}, {self.points[-1].iterations:,} iterations in {self.seconds:.2f} s",
            f"known value {self.known_value:.6f} ({self.source})",
            "",
            "iterations      value   error  exploitability",
        ]
        lines += [
            f"{point.iterations:>10,} {point.value:>10.6f} {abs(point.value - self.known_value):>7.0e} "
            f"{point.exploitability:>15.6f}"
            for point in self.points
        ]
        return "\n".join(lines)


def solve(plan: KnownGamePlan) -> KnownGameReport:
    """Solve a game."""
    known, iterations = KNOWN_GAMES[plan.game], plan.iterations
    tree, information = lay_out(known.rules)
    solver = TreeSolver(tree, UPDATES[plan.update], external=plan.external, seed=plan.seed)
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
        plan.game,
        known.value,
        known.source,
        plan.update,
        plan.external,
        len(tree.player),
        len(information),
        seconds,
        points,
        equilibrium,
    )
