"""Counterfactual regret minimisation and best responses on whole game trees, as the textbook has them.

Source: M. Zinkevich et al., "Regret minimization in games with incomplete information", 2007.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from learning.cfr.sampling import RegretUpdate

CHANCE, OVER = 2, 3
Strategy: TypeAlias = dict[Hashable, Sequence[float]]
"""Probabilities of the actions in each information set."""


@dataclass(eq=False)
class Node:
    """A node of a game; player 0 gets ``utility`` at the end, and player 1 loses as much.

    ``known`` is the information set of a decision, and after chance the probabilities of the children.
    """

    player: int
    known: Hashable = ()
    children: Sequence[Node] = ()
    utility: float = 0.0

    def shares(self, strategy: Strategy) -> Sequence[float]:
        return self.known if self.player == CHANCE else strategy[self.known]  # type: ignore[return-value]


class Cfr:
    """Sums of regrets and of strategies by information set."""

    def __init__(self, root: Node, update: RegretUpdate) -> None:
        self.root, self.update, self.iterations = root, update, 0
        self.regrets = {each.known: [0.0] * len(each.children) for each in nodes(root) if each.player < 2}
        self.strategies = {known: list(row) for known, row in self.regrets.items()}

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.iterations += 1
            for learners in ((0,), (1,)) if self.update.alternate else ((0, 1),):
                self._pass(learners)

    def average(self) -> Strategy:
        return {known: _shares(row) for known, row in self.strategies.items()}

    def _pass(self, learners: Sequence[int]) -> None:
        current: Strategy = {known: _shares(row) for known, row in self.regrets.items()}
        gained = {known: [0.0] * len(row) for known, row in current.items()}
        weight = self.iterations**self.update.strategy_power

        def visit(node: Node, reach: Sequence[float]) -> float:
            """The value of a node that player 0, player 1 and chance let come with these probabilities."""
            if node.player == OVER:
                return node.utility
            shares, values, player = node.shares(current), [], node.player
            for share, child in zip(shares, node.children, strict=True):
                values.append(
                    visit(child, [each * share if n == player else each for n, each in enumerate(reach)])
                )
            value = sum(share * each for share, each in zip(shares, values, strict=True))
            if player in learners:
                others = reach[1 - player] * reach[CHANCE] * (-1) ** player
                for action, each in enumerate(values):
                    gained[node.known][action] += others * (each - value)
                    self.strategies[node.known][action] += weight * reach[player] * shares[action]
            return value

        visit(self.root, (1.0, 1.0, 1.0))
        weight = self.iterations**self.update.regret_power
        for known, row in gained.items():
            sums = [old + weight * new for old, new in zip(self.regrets[known], row, strict=True)]
            self.regrets[known] = [max(each, 0.0) for each in sums] if self.update.floor else sums


def _shares(sums: Sequence[float]) -> list[float]:
    """Probabilities in proportion to the positive sums; equal ones if there is none."""
    positive = [max(each, 0.0) for each in sums]
    total = sum(positive)
    return [each / total for each in positive] if total else [1.0 / len(sums)] * len(sums)


def nodes(root: Node) -> Iterator[Node]:
    yield root
    for child in root.children:
        yield from nodes(child)


def value_of(node: Node, strategy: Strategy) -> float:
    """What player 0 can expect."""
    if node.player == OVER:
        return node.utility
    shares = node.shares(strategy)
    return sum(share * value_of(child, strategy) for share, child in zip(shares, node.children, strict=True))


def exploitability(root: Node, strategy: Strategy) -> float:
    """Mean of what the best responses of both players get: 0 for an equilibrium."""
    return sum(best_response(root, strategy, player) for player in (0, 1)) / 2


def best_response(root: Node, strategy: Strategy, player: int) -> float:
    """What the best response of a player gets, who remembers what it knew and did."""
    held: dict[Hashable, list[tuple[float, Node]]] = defaultdict(list)
    chosen: dict[Hashable, int] = {}

    def spread(node: Node, reach: float) -> None:
        """Collect the nodes of each information set, with the probability that the others let it come."""
        own = node.player == player
        if own:
            held[node.known].append((reach, node))
        if node.player != OVER:
            shares = [1.0] * len(node.children) if own else node.shares(strategy)
            for share, child in zip(shares, node.children, strict=True):
                spread(child, reach * share)

    def value(node: Node) -> float:
        if node.player == OVER:
            return node.utility * (-1) ** player
        if node.player != player:
            shares = node.shares(strategy)
            return sum(share * value(child) for share, child in zip(shares, node.children, strict=True))
        if node.known not in chosen:
            worth = [
                sum(reach * value(each.children[action]) for reach, each in held[node.known])
                for action in range(len(node.children))
            ]
            chosen[node.known] = worth.index(max(worth))
        return value(node.children[chosen[node.known]])

    spread(root, 1.0)
    return value(root)
