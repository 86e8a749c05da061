"""Monte-Carlo CFR over the abstract policies of two-player mahjong.

An iteration shuffles a wall and learns from that deal alone. With chance sampling it tries every policy of
both players at every decision; with external sampling it tries every policy of one player and one of the
other, drawn from the current strategy, and then the other way round. All decisions of an iteration follow
the strategies from before it; its regrets are added at its end.

Source: the CFR-p paper, sections 1.3, 4.2 and 5; M. Lanctot et al., "Monte Carlo sampling for regret
minimization in extensive games", 2009.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.two_player.layout import TILES, shuffle
from kit.jit import kernel, warms_up
from learning.cfr.deal_tree import ALL, DRAWN, expand, new_deal_tree
from policies.two_player.abstraction import KEYS, POLICIES, policies_of

BOTH: Final = -1
"""Both players learn from a pass."""

Update: TypeAlias = Literal["cfr", "plus", "linear"]
"""Variant of CFR."""


class RegretUpdate(NamedTuple):
    """A variant of CFR.

    Attributes:
        regret_power: iteration t has the weight t to this power in the sums of regrets.
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


class NodeSums(NamedTuple):
    """The sums learned so far, by the number of the key.

    Attributes:
        regrets: ``[KEYS, 3]`` float64, sums of counterfactual regrets.
        strategies: ``[KEYS, 3]`` float64, sums of strategies.
        visits: ``[KEYS]`` int64, how often a pass came to a node of this key.
    """

    regrets: NDArray[np.float64]
    strategies: NDArray[np.float64]
    visits: NDArray[np.int64]


def new_sums() -> NodeSums:
    """Sums before the first iteration; memory is taken page by page as nodes are visited."""
    return NodeSums(np.zeros((KEYS, POLICIES)), np.zeros((KEYS, POLICIES)), np.zeros(KEYS, np.int64))


@kernel
def learn_deals(sums: Any, tree: Any, update: Any, external: bool, seed: int, first: int, count: int) -> None:
    """Run iterations of CFR.

    Args:
        sums: `NodeSums`, changed.
        tree: a `DealTree`, as working memory.
        update: `RegretUpdate`.
        external: external sampling instead of chance sampling.
        seed: of the deals and samples.
        first: number of the first iteration, from 1.
        count: number of iterations.
    """
    wall = np.zeros(TILES, np.int8)
    for number in range(first, first + count):
        shuffle(seed, number, wall)
        if external or update.alternate:
            learn_deal(sums, tree, update, external, 0, seed, number, wall)
            learn_deal(sums, tree, update, external, 1, seed, number, wall)
        else:
            learn_deal(sums, tree, update, external, BOTH, seed, number, wall)


@kernel
def learn_deal(
    sums: Any,
    tree: Any,
    update: Any,
    external: bool,
    learner: int,
    seed: int,
    number: int,
    wall: NDArray[np.int8],
) -> None:
    """Learn from one deal: one pass for a learner, or for both (`BOTH`)."""
    sampled = DRAWN if external else ALL
    tried = (sampled if learner == 1 else ALL, sampled if learner == 0 else ALL)
    expand(tree, wall, sums.regrets, tried, seed, number)
    _add_regrets(sums, tree, learner, float(number) ** update.regret_power)
    _add_strategies(sums, tree, learner, external, float(number) ** update.strategy_power)
    if update.floor:
        for node in range(tree.size[0]):
            if tree.player[node] >= 0:
                for policy in range(POLICIES):
                    sums.regrets[tree.key[node], policy] = max(sums.regrets[tree.key[node], policy], 0.0)


@kernel
def _add_regrets(sums: Any, tree: Any, learner: int, weight: float) -> None:
    """Add the counterfactual regrets of the learner's decisions, or of all."""
    for node in range(1, tree.size[0]):
        parent = tree.parent[node]
        player = tree.player[parent]
        if learner != 1 - player:  # not the other's pass
            sign = 1.0 if player == 0 else -1.0
            regret = sign * (tree.value[node] - tree.value[parent])
            sums.regrets[tree.key[parent], tree.choice[node]] += (
                weight * tree.reach[parent, 1 - player] * regret
            )


@kernel
def _add_strategies(sums: Any, tree: Any, learner: int, external: bool, weight: float) -> None:
    """Add strategies times their player's reach: the learner's, or with external sampling the other's."""
    for node in range(tree.size[0]):
        player = tree.player[node]
        if player < 0:
            continue
        key = tree.key[node]
        sums.visits[key] += 1
        if learner == BOTH or (player == learner) != external:
            for policy in range(policies_of(key)):
                sums.strategies[key, policy] += (
                    weight * tree.reach[node, player] * tree.strategy[node, policy]
                )


@warms_up
def _warm_up() -> None:
    learn_deals(new_sums(), new_deal_tree(), UPDATES["cfr"], False, 0, 1, 1)
