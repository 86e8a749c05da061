"""CFR on a whole game tree: every information set in every iteration, or sampled.

Source: the CFR-p paper, section 1.3; for external sampling M. Lanctot et al., "Monte Carlo sampling for
regret minimization in extensive games", 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from game.two_player.layout import drawn_share
from kit.jit import kernel, warms_up
from learning.cfr.tree import (
    CHANCE,
    TERMINAL,
    UPDATES,
    DecisionNode,
    Floats,
    GameTree,
    OutcomeNode,
    RegretUpdate,
    lay_out,
    power,
)
from policies.two_player.playing import match_regrets

BOTH = -1
"""Both players learn from a pass."""


class TreeSolver:
    """Sums of regrets and of strategies for one game.

    Args:
        tree: the game.
        update: the variant.
        external: sample chance and the opponent (external sampling) instead of visiting the whole tree.
        seed: of the samples.

    Attributes:
        regrets: ``[I, A]`` float64, sums of counterfactual regrets.
        strategies: ``[I, A]`` float64, sums of strategies.
        iterations: done so far.
    """

    def __init__(
        self, tree: GameTree, update: RegretUpdate, *, external: bool = False, seed: int = 0
    ) -> None:
        self.tree = tree
        self.update = update
        self.iterations = 0
        self.regrets: Floats = np.zeros((len(tree.actions), tree.width))
        self.strategies: Floats = np.zeros_like(self.regrets)
        self._external, self._seed = external, seed
        self._children = children_of(tree)

    def run(self, iterations: int, learners: Sequence[int] = ()) -> None:
        """Do further iterations.

        Args:
            iterations: how many.
            learners: who learns in each, one after the other; default: both players, as the update wants it.
        """
        both = (0, 1) if self.update.alternate or self._external else (BOTH,)
        for _ in range(iterations):
            self.iterations += 1
            for learner in learners or both:
                self._pass(learner)

    def average(self) -> Floats:
        """The average strategy, ``[I, A]`` float64; equal probabilities where none was ever played."""
        return normalised(self.strategies, self.tree.uniform())

    def _pass(self, learner: int) -> None:
        update, number = self.update, self.iterations
        regret_weight = power(number, update.regret_power)
        strategy_weight = power(number, update.strategy_power)
        gained = np.zeros_like(self.regrets)
        strategy = current_strategy(self.tree, self.regrets)
        if self._external:
            sample_tree(
                self.tree,
                self._children,
                strategy,
                learner,
                self._seed,
                number,
                strategy_weight,
                gained,
                self.strategies,
            )
        else:
            walk_tree(self.tree, strategy, learner, strategy_weight, gained, self.strategies)
        self.regrets += regret_weight * gained
        if update.floor:
            np.maximum(self.regrets, 0.0, out=self.regrets)


def normalised(sums: Floats, otherwise: Floats) -> Floats:
    """Rows divided by their sum, or replaced by those of ``otherwise`` if that is zero."""
    total = sums.sum(axis=1, keepdims=True)
    found: Floats = np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0), otherwise)
    return found


def children_of(tree: GameTree) -> NDArray[np.int32]:
    """``[N, C]`` int32: the nodes that the choices of each node lead to, -1 where there is none."""
    children = np.full((len(tree.player), int(tree.choice.max()) + 1), -1, np.int32)
    children[tree.parent[1:], tree.choice[1:]] = np.arange(1, len(tree.player))
    return children


@kernel
def learns(learner: int, player: int) -> bool:
    """Return whether a pass for a learner, or for both, learns from a player's decisions."""
    return learner == player if learner != BOTH else True


@kernel
def current_strategy(tree: Any, regrets: NDArray[np.float64]) -> NDArray[np.float64]:
    """The strategy that regret matching gives for every information set, ``[I, A]`` float64."""
    strategy = np.zeros_like(regrets)
    for infoset in range(len(tree.actions)):
        match_regrets(regrets[infoset], int(tree.actions[infoset]), strategy[infoset])
    return strategy


@kernel
def walk_tree(
    tree: Any,
    strategy: NDArray[np.float64],
    learner: int,
    strategy_weight: float,
    gained: NDArray[np.float64],
    strategies: NDArray[np.float64],
) -> None:
    """Add what one pass over the whole tree says.

    Args:
        tree: a `GameTree`.
        strategy: ``[I, A]``, of both players.
        learner: the player who learns, or `BOTH`.
        strategy_weight: weight of the pass in the sums of strategies.
        gained: ``[I, A]``, the counterfactual regrets are added.
        strategies: ``[I, A]``, the weighted strategies, times the player's own reach, are added.
    """
    nodes = len(tree.player)
    # probability of coming here, without what one player contributes: 0, 1; and without what chance does: 2
    reach = np.ones((nodes, 3))
    for node in range(1, nodes):
        parent = tree.parent[node]
        chooser = tree.player[parent]
        for part in range(3):
            reach[node, part] = reach[parent, part]
        if chooser == CHANCE:
            reach[node, 2] *= tree.chance[node]
        else:
            reach[node, chooser] *= strategy[tree.infoset[parent], tree.choice[node]]
    value = tree.utility.copy()
    for node in range(nodes - 1, 0, -1):
        parent = tree.parent[node]
        if tree.player[parent] == CHANCE:
            value[parent] += tree.chance[node] * value[node]
        else:
            value[parent] += strategy[tree.infoset[parent], tree.choice[node]] * value[node]
    for node in range(1, nodes):
        parent = tree.parent[node]
        player = tree.player[parent]
        if player == CHANCE or not learns(learner, player):
            continue
        infoset, action = tree.infoset[parent], tree.choice[node]
        others = reach[parent, 1 - player] * reach[parent, 2]
        sign = 1.0 if player == 0 else -1.0
        gained[infoset, action] += others * sign * (value[node] - value[parent])
        strategies[infoset, action] += strategy_weight * reach[parent, player] * strategy[infoset, action]


@kernel
def sample_tree(
    tree: Any,
    children: NDArray[np.int32],
    strategy: NDArray[np.float64],
    learner: int,
    seed: int,
    number: int,
    strategy_weight: float,
    gained: NDArray[np.float64],
    strategies: NDArray[np.float64],
) -> None:
    """Add what one external sample says: all actions of the learner, one of chance and of the opponent each.

    Args:
        tree: a `GameTree`.
        children: of `children_of`.
        strategy: ``[I, A]``, of both players.
        learner: the player who learns; the other's strategies are summed.
        seed: of the samples.
        number: of the iteration, from 1.
        strategy_weight: as for `walk_tree`.
        gained: as for `walk_tree`.
        strategies: as for `walk_tree`.
    """
    nodes = len(tree.player)
    reached = np.zeros(nodes, np.bool_)
    reached[0] = True
    value = tree.utility.copy()
    for node in range(nodes):
        player = tree.player[node]
        if not reached[node] or player == TERMINAL:
            continue
        if player == learner:
            for child in children[node]:
                if child >= 0:
                    reached[child] = True
            continue
        infoset = tree.infoset[node]
        # the same sample throughout an information set, and another for each learner
        moment = 2 * (infoset if player >= 0 else len(tree.actions) + node) + learner
        share = drawn_share(seed, number, moment)
        chosen = -1
        for child in children[node]:
            if child < 0:
                continue
            chance = tree.chance[child] if player == CHANCE else strategy[infoset, tree.choice[child]]
            if chance > 0.0:
                chosen = child
            share -= chance
            if share < 0.0:
                break
        reached[chosen] = True
        if player >= 0:
            for action in range(tree.actions[infoset]):
                strategies[infoset, action] += strategy_weight * strategy[infoset, action]
    for node in range(nodes - 1, 0, -1):
        if reached[node]:
            parent = tree.parent[node]
            weight = (
                strategy[tree.infoset[parent], tree.choice[node]] if tree.player[parent] == learner else 1.0
            )
            value[parent] += weight * value[node]
    sign = 1.0 if learner == 0 else -1.0
    for node in range(1, nodes):
        parent = tree.parent[node]
        if reached[node] and tree.player[parent] == learner:
            gained[tree.infoset[parent], tree.choice[node]] += sign * (value[node] - value[parent])


@warms_up
def _warm_up() -> None:
    tree, _ = lay_out(lambda history: OutcomeNode(0.0) if history else DecisionNode(0, 0, 2))
    for external in (False, True):
        TreeSolver(tree, UPDATES["cfr"], external=external).run(1)
