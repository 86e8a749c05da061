"""The networks of the reward predictor: a two-layer GRU over the rounds in order, then two dense layers.

`RewardNetwork` answers with one number, the expected reward. `FinishNetwork` answers with the probabilities
of the 24 orders of finish, from which the expected rewards of all four players follow; they add up without a
correction.

Source: Suphx, arXiv:2003.13590, section 3.2, figure 7; the orders of finish are ours.
"""

from __future__ import annotations

import copy
import itertools
import math
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec
import numpy as np
import structlog
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from game.ranking import HANCHAN_REWARDS, Rewards
from policies.nets.device import inference, is_device_fault
from policies.reward.encoding import INPUTS, ROUNDS, ROUNDS_AND_OUTCOMES, encode
from policies.reward.games import PaddedGames, final_rewards

log = structlog.get_logger(__name__)

ORDERS: Final = tuple(itertools.permutations(range(4)))
"""The orders of finish: the place of each player, from 0."""
_PLACES: Final = functional.one_hot(torch.tensor(ORDERS), 4).float()
"""``[24, 4, 4]``: for each order and player, 1 at the player's place."""


class _PredictorSizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    hidden: int = 64
    dense: int = 64
    rewards: Rewards = HANCHAN_REWARDS

    def __post_init__(self) -> None:
        if min(self.hidden, self.dense) < 1:
            raise ValueError(f"hidden and dense must be at least 1: {self.hidden}, {self.dense}")
        if not all(map(math.isfinite, self.rewards)) or not self.scale:
            raise ValueError(f"rewards must be finite, and not all zero: {self.rewards}")

    @property
    def scale(self) -> float:
        """The largest absolute reward: the network's unit."""
        return max(map(abs, self.rewards))


class RewardArchitecture(_PredictorSizes, frozen=True, kw_only=True, tag="reward"):
    """The sizes of a predictor of rewards, and the meaning of its answers.

    Attributes:
        encoding: version of the input encoding.
        hidden: width of each layer of the GRU.
        dense: width between the two dense layers.
        rewards: rewards of the places, first to fourth, as in training.
    """

    encoding: Literal["rounds-28/1"] = ROUNDS


class FinishArchitecture(_PredictorSizes, frozen=True, kw_only=True, tag="finish"):
    """The same of a predictor of the order of finish; ``rewards`` only say what is expected from it."""

    encoding: Literal["rounds-36/1"] = ROUNDS_AND_OUTCOMES


PredictorArchitecture: TypeAlias = RewardArchitecture | FinishArchitecture


class _RoundsNetwork(nn.Module):
    """Two recurrent layers and two dense ones.

    Args:
        architecture: its sizes.
        outputs: numbers for each player and round.
    """

    def __init__(self, architecture: PredictorArchitecture, outputs: int) -> None:
        super().__init__()
        inputs = INPUTS[architecture.encoding]
        self.rounds = nn.GRU(inputs, architecture.hidden, num_layers=2, batch_first=True)
        self.dense = nn.Linear(architecture.hidden, architecture.dense)
        self.answer = nn.Linear(architecture.dense, outputs)

    def outputs(self, x: Tensor) -> Tensor:
        """``[G, 4, T, outputs]`` from ``[G, 4, T, C]``; each depends on its own and earlier rounds."""
        seen, _ = self.rounds(x.flatten(0, 1))
        answers: Tensor = self.answer(functional.relu(self.dense(seen)))
        return answers.view(*x.shape[:3], -1)


class RewardNetwork(_RoundsNetwork):
    """Answers with the expected reward of one player.

    Args:
        architecture: its sizes.
    """

    def __init__(self, architecture: RewardArchitecture) -> None:
        super().__init__(architecture, 1)
        self.architecture = architecture

    def forward(self, x: Tensor) -> Tensor:
        """Predict the final rewards at the start of each round.

        Args:
            x: ``[G, 4, T, 28]`` from `encode`.

        Returns:
            ``[G, 4, T]`` by player, in units of `RewardArchitecture.scale`.
        """
        return self.outputs(x).squeeze(-1)


class FinishNetwork(_RoundsNetwork):
    """Answers with the probabilities of the orders of finish.

    The network scores each place for each player. The score of an order is the sum of those of its four
    places, and the probabilities are the softmax over the 24 orders.

    Args:
        architecture: its sizes.
    """

    def __init__(self, architecture: FinishArchitecture) -> None:
        super().__init__(architecture, 4)
        self.architecture = architecture

    def orders(self, x: Tensor) -> Tensor:
        """Predict the order of finish at the start of each round.

        Args:
            x: ``[G, 4, T, 36]`` from `encode`.

        Returns:
            ``[G, T, 24]`` logarithms of the probabilities of `ORDERS`.
        """
        scores = self.outputs(x).transpose(1, 2).flatten(2)
        return (scores @ _PLACES.flatten(1).T.to(x.device)).log_softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the final rewards, as `RewardNetwork.forward` does."""
        probabilities = self.orders(x).exp()
        rewards = torch.tensor(self.architecture.rewards, device=x.device) / self.architecture.scale
        expected: Tensor = probabilities @ (_PLACES.to(x.device) @ rewards)
        return expected.transpose(1, 2)


PredictorNetwork: TypeAlias = RewardNetwork | FinishNetwork


class Predictor(Protocol):
    """The interface that `predict` uses: a predictor's network, here or on another device."""

    @property
    def architecture(self) -> PredictorArchitecture:
        """The network's architecture."""

    def __call__(self, rounds: Tensor) -> Tensor:
        """Expected rewards as `RewardNetwork.forward` returns them, on the CPU."""


class DevicePredictor:
    """A predictor on a device; if that runs out of memory or is lost, on the CPU from then on.

    Args:
        network: the predictor, on the CPU; not changed.
        device: where to compute.
    """

    def __init__(self, network: PredictorNetwork, device: torch.device | str) -> None:
        self.architecture = network.architecture
        self.device = torch.device(device)
        self._network = network
        self._placed = copy.deepcopy(network).to(self.device)

    def __call__(self, rounds: Tensor) -> Tensor:
        """Expected rewards, on the CPU."""
        try:
            expected: Tensor = self._placed(rounds.to(self.device)).cpu()
        except Exception as exc:
            if self.device.type == "cpu" or not is_device_fault(exc):
                raise
            log.warning("reward.moved_to_cpu", reason=f"{type(exc).__name__}: {exc}"[:200])
            self.device, self._placed = torch.device("cpu"), self._network
            expected = self._placed(rounds)
        return expected


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
