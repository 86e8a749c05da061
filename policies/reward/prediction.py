"""The final reward each player can expect, at the start of every round, and the reward of a round."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from policies.device import inference
from policies.reward.encoding import encode
from policies.reward.games import PaddedGames, final_rewards
from policies.reward.networks import Predictor, PredictorArchitecture


@inference()
def predict(network: Predictor, games: PaddedGames) -> NDArray[np.float64]:
    """The final reward each player can expect at the start of each round.

    The four rewards have a fixed sum, so the error in the sum of the four predictions is subtracted in equal
    parts; that of a `FinishNetwork` is rounding.

    Args:
        network: the predictor, in any mode; training and evaluation do not differ.
        games: their rounds so far.

    Returns:
        ``[G, T, 4]`` by player, in the units of the rewards; undefined past a game's rounds.
    """
    shape = games.starts.shape
    if not games.starts.size:
        return np.zeros((*shape, 4))
    rounds = torch.from_numpy(encode(games, network.architecture.encoding))
    return evened(network(rounds).double().numpy().swapaxes(1, 2), network.architecture)


def evened(expected: NDArray[np.float64], architecture: PredictorArchitecture) -> NDArray[np.float64]:
    """A network's answers ``[..., 4]`` for the four players of a table, as rewards with the correct sum."""
    rewards = expected * architecture.scale
    surplus: NDArray[np.float64] = rewards.mean(axis=-1, keepdims=True) - np.mean(architecture.rewards)
    return rewards - surplus


def round_rewards(network: Predictor, games: PaddedGames, scores: NDArray[Any]) -> NDArray[np.float64]:
    """The reward of each round of finished games: the change of the expected final reward.

    For the last round the final reward itself is used, so that the rounds add up to the game's reward minus
    the expectation at its start.

    Args:
        network: the predictor.
        games: all their rounds.
        scores: ``[G, 4]`` final scores.

    Returns:
        ``[G, T, 4]`` by player; zeros past a game's rounds.
    """
    expected = predict(network, games)
    after = np.zeros_like(expected)
    after[:, :-1] = expected[:, 1:]
    last = games.counts > 0
    after[last, games.counts[last] - 1] = final_rewards(scores, network.architecture.rewards)[last]
    return np.where(games.dealt[..., None], after - expected, 0.0)
