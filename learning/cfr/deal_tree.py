"""The game tree of one deal as arrays: all choices of policies that are tried, played to the end.

The wall is known, so the game between two choices of a policy is determined. Learning and the benchmark both
expand deals here, and differ in the policies they try. Nodes are in preorder: a loop meets a node after its
parent, and a backward loop after its children.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.two_player.layout import PLAYERS, POSITION, drawn_share
from game.two_player.rules import deal
from kit.jit import kernel
from policies.two_player.abstraction import POLICIES, STAGES, key_of, policies_of, stage_of
from policies.two_player.playing import (
    COMMITMENT,
    advance,
    begin,
    commit,
    drawn_action,
    match_regrets,
    utility_of,
)

TERMINAL: Final = -1
"""In place of the player who chooses: the game is over."""

# Which policies are tried where a player chooses; a policy's number stands for that policy alone.
ALL: Final = -1
LIKELY: Final = -2
"""Those that the strategy may choose."""
DRAWN: Final = -3
"""One, drawn from the strategy; the same wherever the key is the same."""

_ROOT: Final = -1
"""Parent of the root."""
_DECISIONS: Final = PLAYERS * STAGES
_MOST_NODES: Final = (POLICIES ** (_DECISIONS + 1) - 1) // (POLICIES - 1)
_HERE: Final = _DECISIONS * (POLICIES - 1) + 1
"""Index of the place being visited, after the most that can be pending."""


def deal_series(seed: int, *, training: bool) -> int:
    """The seed of the deals of a run for learning or for measuring: never the same.

    >>> deal_series(3, training=True), deal_series(3, training=False)
    (7, 6)
    """
    return 2 * seed + training


class DealTree(NamedTuple):
    """The tree of a deal; its memory is reused for the next deal.

    Attributes:
        size: ``[1]`` int64, number of nodes.
        player: ``[M]`` int32, who chooses, or `TERMINAL`.
        parent: ``[M]`` int32.
        choice: ``[M]`` int32, the policy that leads here.
        key: ``[M]`` int64, of a decision.
        share: ``[M]`` float64, probability with which the strategy chooses what leads here; 1 if it was
            drawn or given.
        reach: ``[M, 2]`` float64, product of the shares of each player on the way.
        strategy: ``[M, 3]`` float64, at a decision.
        value: ``[M]`` float64, for player 0.
        positions: ``[P + 1]`` records of `POSITION`: places still to be visited, and the one being visited.
        commitments: ``[P + 1]`` records of `COMMITMENT`.
        pending: ``[P, 2]`` int64, their parent and choice.
        pending_share: ``[P]`` float64.
    """

    size: NDArray[np.int64]
    player: NDArray[np.int32]
    parent: NDArray[np.int32]
    choice: NDArray[np.int32]
    key: NDArray[np.int64]
    share: NDArray[np.float64]
    reach: NDArray[np.float64]
    strategy: NDArray[np.float64]
    value: NDArray[np.float64]
    positions: NDArray[np.void]
    commitments: NDArray[np.void]
    pending: NDArray[np.int64]
    pending_share: NDArray[np.float64]


def new_deal_tree() -> DealTree:
    """Memory for the tree of any deal."""
    return DealTree(
        np.zeros(1, np.int64),
        np.zeros(_MOST_NODES, np.int32),
        np.zeros(_MOST_NODES, np.int32),
        np.zeros(_MOST_NODES, np.int32),
        np.zeros(_MOST_NODES, np.int64),
        np.zeros(_MOST_NODES),
        np.zeros((_MOST_NODES, PLAYERS)),
        np.zeros((_MOST_NODES, POLICIES)),
        np.zeros(_MOST_NODES),
        np.zeros(_HERE + 1, POSITION),
        np.zeros(_HERE + 1, COMMITMENT),
        np.zeros((_HERE, 2), np.int64),
        np.ones(_HERE),
    )


@kernel
def expand(
    tree: Any,
    wall: NDArray[np.int8],
    weights: NDArray[np.float64],
    tried: tuple[int, int],
    seed: int,
    number: int,
) -> None:
    """Lay out the tree of a deal and the value of each node.

    Args:
        tree: a `DealTree`, filled.
        wall: ``[64]`` int8.
        weights: ``[KEYS, 3]`` float64: the strategy, by `match_regrets`.
        tried: which policies of each player: `ALL`, `LIKELY`, `DRAWN` or a policy. A player who is given a
            policy has no nodes.
        seed: of the draws.
        number: of the deal; the draws belong to it.
    """
    deal(tree.positions[0], wall)
    begin(tree.commitments[0])
    tree.pending[0, 0] = _ROOT
    tree.pending[0, 1] = 0
    tree.size[0] = 0
    left = 1
    while left > 0:
        left -= 1
        node = _arrive(tree, wall, left, tried)
        if tree.player[node] == TERMINAL:
            continue
        player = tree.player[node]
        key = tree.key[node]
        policies = policies_of(key)
        strategy = tree.strategy[node]
        match_regrets(weights[key], policies, strategy)
        drawn = -1
        if tried[player] == DRAWN:
            drawn = drawn_action(strategy, policies, drawn_share(seed, number, PLAYERS * key + player))
        for place in range(policies):
            policy = policies - 1 - place  # the last one noted is visited first
            share = strategy[policy]
            if drawn >= 0:
                share = 1.0 if policy == drawn else 0.0
            # a node that neither player would reach changes no sum
            if share > 0.0 or (tried[player] == ALL and tree.reach[node, 1 - player] > 0.0):
                _note_pending(tree, left, node, policy, share)
                left += 1
    _add_values(tree)


@kernel
def _arrive(tree: Any, wall: NDArray[np.int8], place: int, tried: tuple[int, int]) -> int:
    """Play on from a pending place to the next node, add it, and return it."""
    tree.positions[_HERE] = tree.positions[place]
    tree.commitments[_HERE] = tree.commitments[place]
    position, commitment = tree.positions[_HERE], tree.commitments[_HERE]
    player = advance(position, wall, commitment)
    while player >= 0 and tried[player] >= 0:
        commit(commitment, player, tried[player], stage_of(position))
        player = advance(position, wall, commitment)
    node = int(tree.size[0])
    tree.size[0] += 1
    parent = tree.pending[place, 0]
    tree.parent[node] = parent
    tree.choice[node] = tree.pending[place, 1]
    tree.share[node] = tree.pending_share[place]
    tree.reach[node, :] = 1.0
    if parent >= 0:
        tree.reach[node, 0] = tree.reach[parent, 0]
        tree.reach[node, 1] = tree.reach[parent, 1]
        tree.reach[node, tree.player[parent]] *= tree.share[node]
    tree.player[node] = player if player >= 0 else TERMINAL
    tree.key[node] = key_of(position) if player >= 0 else 0
    tree.value[node] = 0.0 if player >= 0 else float(utility_of(position))
    return node


@kernel
def _note_pending(tree: Any, place: int, node: int, policy: int, share: float) -> None:
    """Note that a policy of the node just added is still to be tried."""
    position, commitment = tree.positions[_HERE], tree.commitments[_HERE]
    tree.positions[place] = position
    tree.commitments[place] = commitment
    commit(tree.commitments[place], int(tree.player[node]), policy, stage_of(position))
    tree.pending[place, 0] = node
    tree.pending[place, 1] = policy
    tree.pending_share[place] = share


@kernel
def _add_values(tree: Any) -> None:
    """The values of the decisions, from those of the outcomes."""
    for node in range(tree.size[0] - 1, 0, -1):
        tree.value[tree.parent[node]] += tree.share[node] * tree.value[node]
