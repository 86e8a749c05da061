"""The abstract game over some deals as one game tree, and the exact best response in it.

Chance draws one of the deals, each as likely; from there on the players choose policies at the decisions of
the abstraction. A player knows the key of the hand, and what it knew and chose before: with that memory
(perfect recall) a best response can be computed exactly. It is exact for these deals. A responder recognises
some of them by their keys, so its value is higher than the best response's over all deals. The value of any
one responder on other deals is lower, sampling error aside; for that we fit one that departs from the table
only where it has seen enough deals.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.jit import kernel
from game.two_player.draws import shuffle
from game.two_player.layout import PLAYERS, TILES
from learning.cfr.deal_tree import ALL, LIKELY, expand, new_deal_tree
from learning.cfr.response import best_response, value_of
from learning.cfr.tree import CHANCE, ROOT, TERMINAL, Floats, GameTree
from policies.two_player.abstraction import KEYS, POLICIES, policies_of
from policies.two_player.playing import match_regrets

LEAST_DEALS: Final = 25.0
"""Deals, by their reach, from which a careful responder departs from the table."""

_DEALS_AT_ONCE: Final = 500


class AbstractGame(NamedTuple):
    """The game over some deals.

    Attributes:
        tree: the game; its root is chance, with a child for each deal.
        keys: ``[I]`` int64, the key of each information set.
    """

    tree: GameTree
    keys: NDArray[np.int64]

    def strategy(self, weights: NDArray[np.float64]) -> Floats:
        """The strategy of a table as one of this game: ``[I, 3]`` float64.

        Args:
            weights: ``[KEYS, 3]`` float64.
        """
        found = np.zeros((len(self.keys), POLICIES))
        _fill_strategy(self.keys, weights, found)
        return found


class ResponseValue(NamedTuple):
    """Values of one player's best responses.

    Attributes:
        fitted: of the best response, on the deals that it was fitted to: the maximum there.
        held_out: of the best response among those that follow the table wherever fewer than `LEAST_DEALS` of
            these deals come, on as many other deals.
    """

    fitted: float
    held_out: float


def abstract_game(
    weights: NDArray[np.float64],
    seed: int,
    deals: int,
    tried: tuple[int, int] = (ALL, ALL),
    *,
    recall: bool = True,
) -> AbstractGame:
    """Expand deals into one game.

    Args:
        weights: ``[KEYS, 3]`` float64: the strategy that `LIKELY` refers to.
        seed: of the deals.
        deals: number of deals.
        tried: which policies of each player are in the game, as for `learning.cfr.deal_tree.expand`.
        recall: players remember what they knew and chose; else, as in learning, they know the key alone, and
            both players share the information sets.
    """
    memory = new_deal_tree()
    parts = [
        _expanded(memory, weights, tried, seed, first, min(_DEALS_AT_ONCE, deals - first))
        for first in range(0, deals, _DEALS_AT_ONCE)
    ]
    player, parent, choice, key, utility = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    offsets = np.repeat(
        np.cumsum([0, *(len(part[0]) for part in parts)])[:-1], [len(part[0]) for part in parts]
    )
    tops = parent == ROOT
    parent = np.where(tops, 0, parent + offsets + 1).astype(np.int32)  # one later, for the root
    choice = np.where(tops, np.cumsum(tops) - 1, choice).astype(np.int32)
    decides = np.concatenate([[False], player != TERMINAL])
    keys = np.concatenate([[0], key])
    tree = GameTree(
        np.concatenate([[CHANCE], player]).astype(np.int32),
        np.concatenate([[ROOT], parent]).astype(np.int32),
        np.concatenate([[0], choice]).astype(np.int32),
        np.where(np.concatenate([[False], tops]), 1.0 / deals, 1.0),
        np.full(len(keys), -1, np.int32),
        np.concatenate([[0.0], utility]),
        np.zeros(0, np.int32),
    )
    infosets = _recalled(tree, keys, decides) if recall else _by_key(keys, decides)
    tree = tree._replace(infoset=infosets)
    of_infoset = np.zeros(infosets.max() + 1, np.int64)
    of_infoset[infosets[decides]] = keys[decides]
    actions = np.array([policies_of(int(one)) for one in of_infoset], np.int32)
    return AbstractGame(tree._replace(actions=actions), of_infoset)


def response_values(
    weights: NDArray[np.float64], seed: int, deals: int
) -> tuple[ResponseValue, ResponseValue]:
    """The exact best responses of player 0 and of player 1 to a table.

    Args:
        weights: ``[KEYS, 3]`` float64.
        seed: of the deals.
        deals: number of deals to fit to; as many more are held out.
    """
    found = []
    for player in range(PLAYERS):
        tried = (ALL if player == 0 else LIKELY, ALL if player == 1 else LIKELY)
        game = abstract_game(weights, seed, 2 * deals, tried)
        strategy = game.strategy(weights)
        tops = np.flatnonzero(game.tree.parent == 0)
        fitting, rest = game.tree.chance.copy(), game.tree.chance.copy()
        fitting[tops], rest[tops] = 1.0 / deals, 1.0 / deals
        fitting[tops[deals:]] = rest[tops[:deals]] = 0.0
        fitted = best_response(game.tree._replace(chance=fitting), strategy, player)
        careful = best_response(
            game.tree._replace(chance=fitting), strategy, player, least_reach=LEAST_DEALS / deals
        )
        sign = 1.0 if player == 0 else -1.0
        held_out = sign * value_of(game.tree._replace(chance=rest), careful.strategy)
        found.append(ResponseValue(fitted.value, held_out))
    return found[0], found[1]


def _by_key(keys: NDArray[np.int64], decides: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Information sets that are keys."""
    infosets = np.full(len(keys), -1, np.int32)
    infosets[decides] = np.unique(keys[decides], return_inverse=True)[1]
    return infosets


def _recalled(tree: GameTree, keys: NDArray[np.int64], decides: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Information sets that are a player, its key, and its last information set and choice."""
    infosets = np.full(len(keys), -1, np.int32)
    before, depth = _own_past(tree)
    total = 0
    for level in range(int(depth[decides].max()) + 1):
        at = np.flatnonzero(decides & (depth == level))
        last, choice = before[at, 0], before[at, 1]
        past = np.where(last < 0, 0, 1 + POLICIES * infosets[last].astype(np.int64) + choice)
        codes = (past * KEYS + keys[at]) * PLAYERS + tree.player[at]
        distinct, place = np.unique(codes, return_inverse=True)
        infosets[at] = total + place
        total += len(distinct)
    return infosets


@kernel
def _own_past(tree: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each decision's last own decision and choice, ``[N, 2]``, -1 for none; how many before, ``[N]``."""
    nodes = len(tree.player)
    last = np.full((nodes, PLAYERS, 2), -1)
    number = np.zeros((nodes, PLAYERS), np.int64)
    before = np.full((nodes, 2), -1)
    depth = np.zeros(nodes, np.int64)
    for node in range(1, nodes):
        parent = tree.parent[node]
        last[node] = last[parent]
        number[node] = number[parent]
        chooser = tree.player[parent]
        if chooser >= 0:
            last[node, chooser, 0] = parent
            last[node, chooser, 1] = tree.choice[node]
            number[node, chooser] += 1
        player = tree.player[node]
        if player >= 0:
            before[node] = last[node, player]
            depth[node] = number[node, player]
    return before, depth


@kernel
def _fill_strategy(keys: NDArray[np.int64], weights: NDArray[np.float64], found: NDArray[np.float64]) -> None:
    for infoset in range(len(keys)):
        match_regrets(weights[keys[infoset]], policies_of(keys[infoset]), found[infoset])


@kernel
def _expanded(
    memory: Any, weights: NDArray[np.float64], tried: tuple[int, int], seed: int, first: int, count: int
) -> Any:
    """The nodes of some deals: player, parent (`ROOT` at the top of each), choice, key and utility."""
    wall = np.zeros(TILES, np.int8)
    room = count * len(memory.player)
    player = np.empty(room, np.int32)
    parent = np.empty(room, np.int32)
    choice = np.empty(room, np.int32)
    key = np.empty(room, np.int64)
    utility = np.empty(room)
    total = 0
    for number in range(first, first + count):
        shuffle(seed, number, wall)
        expand(memory, wall, weights, tried, seed, number)
        for node in range(memory.size[0]):
            at = total + node
            player[at] = memory.player[node]
            parent[at] = memory.parent[node] + total if memory.parent[node] != ROOT else ROOT
            choice[at] = memory.choice[node]
            key[at] = memory.key[node]
            utility[at] = memory.value[node] if memory.player[node] == TERMINAL else 0.0
        total += memory.size[0]
    return player[:total], parent[:total], choice[:total], key[:total], utility[:total]
