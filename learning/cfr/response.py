"""The value of a strategy, the exact best response to it, and its exploitability.

Source: the CFR-p paper, section 5, and M. Johanson et al., "Accelerating best response calculation in large
extensive games", 2011.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kit.jit import kernel
from learning.cfr.tree import CHANCE, Floats, GameTree

NOBODY: Final = -1
FOLLOWS: Final = -1
"""In place of an action: the responder follows the given strategy."""


class Response(NamedTuple):
    """A best response.

    Attributes:
        value: what the responder gets, for the responder.
        strategy: ``[I, A]`` float64: the given strategy, with the responder's best actions in place of its
            rows. Where the responder follows the given strategy, and where it never comes, the
            rows stay.
    """

    value: float
    strategy: Floats


class Exploitability(NamedTuple):
    """The gains of best responses to a strategy.

    Attributes:
        value: (first + second) / 2: 0 for an equilibrium, equation 8 of the paper.
        first: value of player 0's best response, for player 0.
        second: value of player 1's best response, for player 1.
    """

    value: float
    first: float
    second: float


def exploitability(tree: GameTree, strategy: Floats) -> Exploitability:
    """The exploitability of a strategy of both players.

    Args:
        tree: the game; both players remember what they knew and did.
        strategy: ``[I, A]`` float64.
    """
    first, second = (best_response(tree, strategy, player).value for player in (0, 1))
    return Exploitability((first + second) / 2, first, second)


def value_of(tree: GameTree, strategy: Floats) -> float:
    """Player 0's expected utility.

    Args:
        tree: the game.
        strategy: ``[I, A]`` float64, of both players.
    """
    return float(tree.utility @ reach_without(tree, strategy, NOBODY))


def best_response(tree: GameTree, strategy: Floats, player: int, *, least_reach: float = 0.0) -> Response:
    """The exact best response of a player to the other's strategy.

    The responder's information sets are decided from the last to the first: when one is decided, everything
    the responder does after it is known.

    Args:
        tree: the game. The responder must have perfect recall: all nodes of an information set have the same
            earlier information sets and actions of the responder.
        strategy: ``[I, A]`` float64; the responder's own rows count only where it follows them.
        player: the responder.
        least_reach: in information sets that chance and the other player reach with a smaller probability,
            the responder follows ``strategy``; the response is then the best of those that do.
    """
    reach = reach_without(tree, strategy, player)
    payoff = tree.utility * reach * (1.0 if player == 0 else -1.0)
    depth = depths(tree, player)
    own = tree.player == player
    reached = np.bincount(tree.infoset[own], reach[own], len(tree.actions))
    free = (reached > 0.0) & (reached >= least_reach)
    chosen = np.full(len(tree.actions), FOLLOWS, np.int32)
    for level in range(int(depth[own].max(initial=-1)), -1, -1):
        values = responded_values(tree, strategy, payoff, player, chosen)
        decided = own & (depth == level)
        below = np.flatnonzero(decided[tree.parent] & (tree.parent >= 0))
        worth = np.zeros(strategy.shape)
        np.add.at(worth, (tree.infoset[tree.parent[below]], tree.choice[below]), values[below])
        worth[np.arange(strategy.shape[1]) >= tree.actions[:, None]] = -np.inf
        infosets = np.unique(tree.infoset[decided])
        infosets = infosets[free[infosets]]
        chosen[infosets] = worth[infosets].argmax(axis=1)
    found = strategy.copy()
    found[free] = 0.0
    found[free, chosen[free]] = 1.0
    return Response(float(responded_values(tree, strategy, payoff, player, chosen)[0]), found)


@kernel
def reach_without(tree: Any, strategy: NDArray[np.float64], player: int) -> NDArray[np.float64]:
    """Probability of reaching each node if a player always chooses what leads there.

    Args:
        tree: a `GameTree`.
        strategy: ``[I, A]``.
        player: whose choices do not count; `NOBODY` to count everyone's.

    Returns:
        ``[N]`` float64.
    """
    reach = np.ones(len(tree.player))
    for node in range(1, len(reach)):
        parent = tree.parent[node]
        chooser = tree.player[parent]
        reach[node] = reach[parent]
        if chooser == CHANCE:
            reach[node] *= tree.chance[node]
        elif chooser != player:
            reach[node] *= strategy[tree.infoset[parent], tree.choice[node]]
    return reach


@kernel
def depths(tree: Any, player: int) -> NDArray[np.int32]:
    """Number of decisions of a player before each node, ``[N]`` int32."""
    depth = np.zeros(len(tree.player), np.int32)
    for node in range(1, len(depth)):
        parent = tree.parent[node]
        depth[node] = depth[parent] + (tree.player[parent] == player)
    return depth


@kernel
def responded_values(
    tree: Any,
    strategy: NDArray[np.float64],
    payoff: NDArray[np.float64],
    player: int,
    chosen: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Value of each node, times the probability of reaching it, if a player takes the chosen actions.

    Args:
        tree: a `GameTree`.
        strategy: ``[I, A]``.
        payoff: ``[N]``, of the player at each outcome, times the probability of reaching it.
        player: the responder.
        chosen: ``[I]`` int32, the responder's action in each information set, or `FOLLOWS`.

    Returns:
        ``[N]`` float64.
    """
    values = payoff.copy()
    for node in range(len(values) - 1, 0, -1):
        parent = tree.parent[node]
        share = 1.0
        if tree.player[parent] == player:
            infoset = tree.infoset[parent]
            if chosen[infoset] == FOLLOWS:
                share = strategy[infoset, tree.choice[node]]
            elif chosen[infoset] != tree.choice[node]:
                share = 0.0
        values[parent] += share * values[node]
    return values
