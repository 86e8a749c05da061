"""One duel with everything said: the same game as the kernels play, state by state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from game.tiles import kind_text
from game.two_player.game import TwoPlayerGame, seeded_wall
from game.two_player.layout import ACTIONS, drawn_share
from game.two_player.log import FORMAT, DuelHeader, DuelLog, LoggedState, PolicyChoice, logged_state
from policies.two_player.abstraction import (
    POLICIES,
    POLICY_NAMES,
    STAGE_NAMES,
    decode,
    key_of,
    policies_of,
    stage_of,
)
from policies.two_player.playing import (
    BY_TABLE,
    COMMITMENT,
    MUST_CHOOSE,
    RANDOM_ACTIONS,
    begin,
    commit,
    drawn_action,
    match_regrets,
    next_action,
    random_action,
)


def watched_duel(
    names: tuple[str, str],
    ways: tuple[int, int],
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    seed: int,
    deal: int,
    number: int,
) -> DuelLog:
    """Play a game as `policies.two_player.playing.play_duel` does, and log every state.

    Args:
        names: of the players.
        ways: how they play.
        weights: of those who play by table.
        seed: of the deal and the draws.
        deal: number of the deal.
        number: of the game, for the draws.
    """
    wall = seeded_wall(seed, deal)
    game = TwoPlayerGame(wall)
    commitment = np.zeros(1, COMMITMENT)[0]
    begin(commitment)
    legal = np.zeros(ACTIONS, np.bool_)
    states: list[LoggedState] = []
    moment = 0
    while not game.over:
        position, player = game.position, game.player
        choice = None
        moment += 1
        if ways[player] == RANDOM_ACTIONS:
            action = random_action(position, legal, drawn_share(seed, number, moment))
        elif (action := next_action(position, commitment, legal)) == MUST_CHOOSE:
            choice = _chosen(position, ways[player], weights[player], drawn_share(seed, number, moment))
            commit(commitment, player, POLICY_NAMES.index(choice.policy), stage_of(position))
            moment += 1
            action = next_action(position, commitment, legal)
        policy = int(commitment["policy"][player])
        followed = POLICY_NAMES[policy] if policy >= 0 else None
        states.append(logged_state(game, action, choice=choice, policy=followed))
        game.play(action)
    states.append(logged_state(game, None))
    header = DuelHeader(FORMAT, list(names), [kind_text(kind) for kind in wall], seed, deal)
    return DuelLog(header, states)


def _chosen(position: np.void, way: int, weights: NDArray[np.float64], share: float) -> PolicyChoice:
    """The policy that a player takes, and from what probabilities."""
    key = key_of(position)
    policies = policies_of(key)
    policy, probabilities = way, {}
    if way == BY_TABLE:
        strategy = np.zeros(POLICIES)
        match_regrets(weights[key], policies, strategy)
        policy = drawn_action(strategy, policies, share)
        probabilities = {POLICY_NAMES[one]: round(float(strategy[one]), 4) for one in range(policies)}
    stage = STAGE_NAMES[stage_of(position)]
    return PolicyChoice(POLICY_NAMES[policy], stage, key, decode(key)._asdict(), probabilities)


def duel_text(log: DuelLog) -> str:
    """A duel as text: a line for each action that was a choice, and the result."""
    lines = [
        f"{log.header.names[0]} against {log.header.names[1]}, deal {log.header.deal}, seed {log.header.seed}"
    ]
    for state in log.states:
        if state.choice is not None:
            lines.append(_choice_text(log.header.names[state.player], state.choice))
        if state.action is not None and state.action != "pass":
            hand = " ".join(state.hands[state.player])
            melds = "".join(f" [{meld.form} {' '.join(meld.tiles)}]" for meld in state.melds[state.player])
            lines.append(
                f"{state.round:>3} {log.header.names[state.player]:<12} {state.action:<12} {hand}{melds}"
            )
    last = log.states[-1]
    if last.winner is None:
        return "\n".join([*lines, "the wall ran out: nobody wins"])
    won = "1 point" if last.points == 1 else f"{last.points} points"
    return "\n".join([*lines, f"{log.header.names[last.winner]} wins {won}"])


def _choice_text(name: str, choice: PolicyChoice) -> str:
    shares = ", ".join(f"{policy} {share:.0%}" for policy, share in choice.probabilities.items())
    return f"    {name} chooses {choice.policy} for the {choice.stage}" + (f" ({shares})" if shares else "")
