"""`suzaku eval cfr`: CFR on small games whose value is known, Kuhn poker and Leduc hold'em."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from kit.options import Seed
from learning.cfr.response import exploitability, value_of
from learning.cfr.solver import TreeSolver
from learning.cfr.tree import UPDATES, ChanceNode, DecisionNode, OutcomeNode, Step, Update, lay_out

_KUHN_DEALS: Final = tuple(permutations(range(3), 2))
_LEDUC_DEALS: Final = tuple(product(range(3), repeat=2))
_LEDUC_BETS: Final = (2, 4)
_LEDUC_RAISES: Final = 2


class KnownGame(NamedTuple):
    """A game, its value for player 0, and who says so."""

    rules: Callable[[tuple[int, ...]], Step]
    value: float
    source: str


def kuhn(history: tuple[int, ...]) -> Step:
    """Kuhn poker: three cards, an ante of 1, one bet of 1; 0 checks or folds, 1 bets or calls."""
    if not history:
        return ChanceNode([1 / 6] * 6)
    cards, moves = _KUHN_DEALS[history[0]], history[1:]
    sign = 1 if cards[0] > cards[1] else -1
    match moves:
        case (0, 0):
            return OutcomeNode(sign)
        case (1, 1) | (0, 1, 1):
            return OutcomeNode(2 * sign)
        case (1, 0):
            return OutcomeNode(1)
        case (0, 1, 0):
            return OutcomeNode(-1)
    player = len(moves) % 2
    return DecisionNode(player, (cards[player], moves), 2)


def leduc(history: tuple[int, ...]) -> Step:
    """Leduc hold'em: two cards of each of three ranks, two rounds of betting, a shared card between them.

    The ante is 1, a bet or raise 2 in the first round and 4 in the second, two of them at most in a round.
    Without a bet, 0 checks and 1 bets; facing one, 0 folds, 1 calls and 2 raises.
    """
    if not history:
        return ChanceNode([(2 if one == other else 4) / 30 for one, other in _LEDUC_DEALS])
    cards, paid, shared, left = _LEDUC_DEALS[history[0]], [1, 1], -1, list(history[1:])
    for number, bet in enumerate(_LEDUC_BETS):
        player, raises = 0, 0
        while True:
            facing = paid[0] != paid[1]
            if not left:
                information = (cards[player], shared, history[1:])
                return DecisionNode(player, information, 3 if facing and raises < _LEDUC_RAISES else 2)
            move = left.pop(0)
            if facing and move == 0:
                return OutcomeNode(-paid[0] if player == 0 else paid[1])
            if facing:
                paid[player] = paid[1 - player]
            if move == (2 if facing else 1):
                paid[player] += bet
                raises += 1
            elif facing or player == 1:
                break
            player = 1 - player
        if number == 0:
            if not left:
                return ChanceNode([(2 - cards.count(rank)) / 4 for rank in range(3)])
            shared = left.pop(0)
    return OutcomeNode(paid[0] * _comparison(cards, shared))


def _comparison(cards: Sequence[int], shared: int) -> int:
    """1 if player 0's card wins at the showdown, -1 if player 1's does, 0 if they share."""
    if cards[0] == cards[1]:
        return 0
    if shared in cards:
        return 1 if cards[0] == shared else -1
    return 1 if cards[0] > cards[1] else -1


GameName: TypeAlias = Literal["kuhn", "leduc"]

KNOWN_GAMES: Final[dict[GameName, KnownGame]] = {
    "kuhn": KnownGame(kuhn, -1 / 18, 'H. W. Kuhn, "A simplified two-person poker", 1950'),
    "leduc": KnownGame(leduc, -0.085606, "the value that solvers of the game agree on"),
}


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
    """The average strategy after some iterations."""

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
