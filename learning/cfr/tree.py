"""A game in extensive form, laid out as arrays.

A game is described node by node (`DecisionNode`, `ChanceNode`, `OutcomeNode`) and laid out once; everything
that is computed on it, regrets or best responses, is then a loop over arrays. Nodes are in preorder: a node
comes before its children, so a forward loop meets a node after its parent and a backward loop after its
children.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.jit import kernel

Ints: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]

CHANCE: Final = -1
TERMINAL: Final = -2
ROOT: Final = -1
"""Parent of the root."""


class DecisionNode(NamedTuple):
    """A player chooses; ``information`` is all that the player knows."""

    player: int
    information: Hashable
    actions: int


class ChanceNode(NamedTuple):
    """Chance chooses, with these probabilities."""

    probabilities: Sequence[float]


class OutcomeNode(NamedTuple):
    """The game is over; ``utility`` is player 0's, and player 1 loses as much."""

    utility: float


Step: TypeAlias = DecisionNode | ChanceNode | OutcomeNode
Game: TypeAlias = Callable[[tuple[int, ...]], Step]
"""Says what comes after the choices so far, each numbered from 0, those of chance included."""


class GameTree(NamedTuple):
    """A game with two players and zero sum.

    Attributes:
        player: ``[N]`` int32, who chooses at a node: 0, 1, `CHANCE` or `TERMINAL`.
        parent: ``[N]`` int32, `ROOT` for the first node.
        choice: ``[N]`` int32, which choice of the parent leads here.
        chance: ``[N]`` float64, probability of that choice if the parent is chance, else 1.
        infoset: ``[N]`` int32, information set of a decision, -1 elsewhere.
        utility: ``[N]`` float64, of player 0 at an outcome, 0 elsewhere.
        actions: ``[I]`` int32, number of actions of each information set.
    """

    player: Ints
    parent: Ints
    choice: Ints
    chance: Floats
    infoset: Ints
    utility: Floats
    actions: Ints

    @property
    def width(self) -> int:
        """Most actions of an information set."""
        return int(self.actions.max())

    def uniform(self) -> Floats:
        """The strategy of equal probabilities: ``[I, A]`` float64, 0 beyond an information set's actions."""
        legal = np.arange(self.width) < self.actions[:, None]
        return legal / self.actions[:, None]


def lay_out(game: Game) -> tuple[GameTree, list[Hashable]]:
    """Lay out a game.

    Args:
        game: gives the step after each sequence of choices; it must end.

    Returns:
        The tree, and the information of each information set.
    """
    rows: list[tuple[int, int, int, float, int, float]] = []
    numbers: dict[tuple[int, Hashable], int] = {}
    actions: list[int] = []
    pending: list[tuple[tuple[int, ...], int, float]] = [((), ROOT, 1.0)]
    while pending:
        history, parent, probability = pending.pop()
        step = game(history)
        choice = history[-1] if history else 0
        number, infoset, utility, player = len(rows), -1, 0.0, CHANCE
        chances: Sequence[float] = ()
        if isinstance(step, OutcomeNode):
            player, utility = TERMINAL, step.utility
        elif isinstance(step, DecisionNode):
            player = step.player
            infoset = numbers.setdefault((player, step.information), len(numbers))
            if infoset == len(actions):
                actions.append(step.actions)
            chances = [1.0] * step.actions
        else:
            chances = step.probabilities
        rows.append((player, parent, choice, probability, infoset, utility))
        pending += [((*history, place), number, chances[place]) for place in reversed(range(len(chances)))]
    columns = list(zip(*rows, strict=True))
    player_of, parent_of, choice_of, infoset_of = (np.array(columns[at], np.int32) for at in (0, 1, 2, 4))
    tree = GameTree(
        player_of,
        parent_of,
        choice_of,
        np.array(columns[3], np.float64),
        infoset_of,
        np.array(columns[5], np.float64),
        np.array(actions, np.int32),
    )
    return tree, [information for _, information in numbers]


Update: TypeAlias = Literal["cfr", "plus", "linear"]
"""Variant of CFR."""


class RegretUpdate(NamedTuple):
    """A variant of CFR.

    Attributes:
        regret_power: an iteration t counts t to this power in the sums of regrets.
        strategy_power: the same for the sums of strategies.
        floor: sums of regrets stay at 0 or above.
        alternate: the players take turns, each answering the other's newest strategy.
    """

    regret_power: int
    strategy_power: int
    floor: bool
    alternate: bool


UPDATES: Final[dict[Update, RegretUpdate]] = {
    "cfr": RegretUpdate(0, 0, False, False),
    "plus": RegretUpdate(0, 1, True, True),
    "linear": RegretUpdate(1, 1, False, False),
}
"""Zinkevich et al. 2007; Tammelin 2014 (CFR+); Brown and Sandholm 2019 (linear CFR)."""


@kernel
def power(number: int, exponent: int) -> float:
    """The weight of an iteration: its number to a small power."""
    weight = 1.0
    for _ in range(exponent):
        weight *= number
    return weight
