"""Playing on between the decisions of the abstraction, and whole duels, as kernels.

The choice of a policy is the only decision left to a player of the abstraction. `advance` carries out
everything else: a win whenever there is one, the policy's actions, and a pass where nothing is on offer.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.two_player.layout import ACTIONS, CLAIM, DISCARD, NOBODY, OVER, PASS, PLAYERS, WIN, drawn_share
from game.two_player.rules import apply, deal, legal_actions, legal_calls, points_now
from kit.jit import kernel
from policies.two_player.abstraction import NORMAL, POLICIES, has_chi, key_of, policies_of, stage_of
from policies.two_player.heuristics import act

UNDECIDED: Final = -1
MUST_CHOOSE: Final = -1
"""In place of an action."""
RANDOM_ACTIONS: Final = 3
"""In place of a policy: any legal action, drawn with equal probability."""
BY_TABLE: Final = 4
"""In place of a policy: one drawn at each decision, from a table of probabilities."""

COMMITMENT: Final = np.dtype(
    [
        ("policy", "i1", (PLAYERS,)),  # that each player follows
        ("stage", "i1", (PLAYERS,)),  # in which it was chosen, -1 before the first
    ]
)


@kernel
def begin(commitment: Any) -> None:
    """Reset the choices of both players."""
    commitment.policy[:] = UNDECIDED
    commitment.stage[:] = UNDECIDED


@kernel
def commit(commitment: Any, player: int, policy: int, stage: int) -> None:
    """Note that a player follows a policy from a stage on."""
    commitment.policy[player] = policy
    commitment.stage[player] = stage


@kernel
def advance(position: Any, wall: NDArray[np.int8], commitment: Any) -> int:
    """Play on until a player must choose a policy.

    Args:
        position: changed.
        wall: ``[64]`` int8.
        commitment: record of `COMMITMENT`; an open chi commits its player to the normal policy.

    Returns:
        The player who must choose; -1 if the game is over.
    """
    legal = np.zeros(ACTIONS, np.bool_)
    while position.phase != OVER:
        action = next_action(position, commitment, legal)
        if action == MUST_CHOOSE:
            return int(position.player)
        apply(position, wall, action)
    return NOBODY


@kernel
def next_action(position: Any, commitment: Any, legal: NDArray[np.bool_]) -> int:
    """The action of the player to act; `MUST_CHOOSE` if it has no policy for this stage yet."""
    action = forced_action(position, legal)
    if action != MUST_CHOOSE:
        return action
    player = int(position.player)
    stage = stage_of(position)
    if stage > commitment.stage[player]:
        if not has_chi(position, player):
            return MUST_CHOOSE
        commit(commitment, player, NORMAL, stage)
    return act(position, int(commitment.policy[player]))


@kernel
def forced_action(position: Any, legal: NDArray[np.bool_]) -> int:
    """The action that every policy takes: a win, or a pass if nothing is on offer; else `MUST_CHOOSE`."""
    if position.phase == DISCARD:
        return MUST_CHOOSE
    if points_now(position) > 0:
        return WIN
    if position.phase == CLAIM and legal_calls(position, legal) == 0:
        return PASS
    return MUST_CHOOSE


@kernel
def utility_of(position: Any) -> int:
    """Points of player 0, which player 1 loses, in a finished game."""
    if position.winner == NOBODY:
        return 0
    return int(position.points) if position.winner == 0 else -int(position.points)


@kernel
def random_action(position: Any, legal: NDArray[np.bool_], share: float) -> int:
    """The legal action at a share, in [0, 1), of the legal ones."""
    left = int(share * legal_actions(position, legal))
    for action in range(ACTIONS):
        if legal[action]:
            if left == 0:
                return action
            left -= 1
    return PASS


@kernel
def match_regrets(weights: NDArray[np.float64], actions: int, strategy: NDArray[np.float64]) -> None:
    """Probabilities in proportion to positive weights, equal ones if there are none.

    With sums of regrets this is regret matching; with sums of strategies it gives the average strategy.

    Args:
        weights: ``[A]`` float64.
        actions: number of legal actions, the first of them.
        strategy: ``[A]`` float64, filled for the legal actions.

    Source: the CFR-p paper, equations 5 and 6.
    """
    total = 0.0
    for action in range(actions):
        strategy[action] = max(weights[action], 0.0)
        total += strategy[action]
    for action in range(actions):
        strategy[action] = strategy[action] / total if total > 0.0 else 1.0 / actions


@kernel
def drawn_action(strategy: NDArray[np.float64], actions: int, share: float) -> int:
    """The action at a share, in [0, 1), of the probabilities of a strategy."""
    for action in range(actions - 1):
        share -= strategy[action]
        if share < 0.0:
            return action
    return actions - 1


@kernel
def play_duel(
    position: Any,
    wall: NDArray[np.int8],
    commitment: Any,
    ways: tuple[int, int],
    tables: tuple[NDArray[np.float64], NDArray[np.float64]],
    seed: int,
    number: int,
) -> int:
    """Play a game from the deal to its end.

    Args:
        position: memory for it.
        wall: ``[64]`` int8.
        commitment: memory for it.
        ways: how each player plays: a policy, `RANDOM_ACTIONS` or `BY_TABLE`.
        tables: ``[KEYS, 3]`` float64 for each player who plays by table: weights, as for `match_regrets`.
        seed: of the draws.
        number: of the game; its draws belong to it.

    Returns:
        Player 0's points.
    """
    deal(position, wall)
    begin(commitment)
    legal = np.zeros(ACTIONS, np.bool_)
    strategy = np.zeros(POLICIES)
    moment = 0
    while position.phase != OVER:
        player = int(position.player)
        moment += 1
        if ways[player] == RANDOM_ACTIONS:
            action = random_action(position, legal, drawn_share(seed, number, moment))
        else:
            action = next_action(position, commitment, legal)
        if action != MUST_CHOOSE:
            apply(position, wall, action)
            continue
        policy = ways[player]
        if policy == BY_TABLE:
            key = key_of(position)
            policies = policies_of(key)
            match_regrets(tables[player][key], policies, strategy)
            policy = drawn_action(strategy, policies, drawn_share(seed, number, moment))
        commit(commitment, player, policy, stage_of(position))
    return utility_of(position)
