"""The reward predictor: a two-layer GRU over the rounds in order, then two dense layers.

It answers with the probabilities of the 24 orders of finish, from which the expected rewards of all four
players follow; they add up without a correction. `learning.train.reward` trains it.

Source: Suphx, arXiv:2003.13590, section 3.2, figure 7; the orders of finish are ours.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.ranking import HANCHAN_REWARDS, Rewards, Uma
from policies.nets.architectures import Arrays, Floats
from policies.nets.compute import sigmoid, softmax
from policies.nets.products import Layer
from policies.nets.shapes import Shapes
from policies.reward.encoding import INPUTS, ROUNDS_AND_OUTCOMES, PaddedGames, encode, final_rewards

ORDERS: Final = tuple(itertools.permutations(range(4)))
"""The orders of finish: the place of each player, from 0."""
PLACES: Final = np.eye(4, dtype=np.float32)[np.array(ORDERS)]
"""``[24, 4, 4]``: for each order and player, 1 at the player's place."""
_SUMMED: Final = Layer(PLACES.reshape(len(ORDERS), -1).T, np.zeros(len(ORDERS), np.float32))
"""The score of an order is the sum of those of its four places."""
_LAYERS: Final = 2
_GATES: Final = 3


class FinishArchitecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="finish"):
    """The sizes of a predictor, and the meaning of its answers.

    Attributes:
        encoding: version of the input encoding.
        hidden: width of each layer of the GRU.
        dense: width between the two dense layers.
        rewards: rewards of the places, first to fourth; they only say what is expected from the orders.
    """

    hidden: int = 64
    dense: int = 64
    rewards: Rewards = HANCHAN_REWARDS
    encoding: Literal["rounds-36/1"] = ROUNDS_AND_OUTCOMES

    def __post_init__(self) -> None:
        if min(self.hidden, self.dense) < 1:
            raise ValueError(f"hidden and dense must be at least 1: {self.hidden}, {self.dense}")
        if not all(map(math.isfinite, self.rewards)) or len(set(self.rewards)) == 1:
            raise ValueError(f"rewards must be finite, and not all equal: {self.rewards}")


def predictor_shapes(architecture: FinishArchitecture) -> Shapes:
    """Names and shapes of a predictor's arrays, as torch names them."""
    hidden, dense = architecture.hidden, architecture.dense
    found: Shapes = {}
    for layer in range(_LAYERS):
        for kind, inputs in (("ih", hidden if layer else INPUTS), ("hh", hidden)):
            found[f"rounds.weight_{kind}_l{layer}"] = (_GATES * hidden, inputs)
            found[f"rounds.bias_{kind}_l{layer}"] = (_GATES * hidden,)
    for name, outputs, inputs in (("dense", dense, hidden), ("answer", 4, dense)):
        found[f"{name}.weight"] = (outputs, inputs)
        found[f"{name}.bias"] = (outputs,)
    return found


class Predictor:
    """The predictor of a checkpoint.

    Args:
        architecture: its sizes.
        arrays: its weights; not changed.
        uma: what places and scores are worth; by default the rewards of the architecture.

    Attributes:
        architecture: the same.
        arrays: the same.
        uma: the same.
    """

    def __init__(self, architecture: FinishArchitecture, arrays: Arrays, uma: Uma | None = None) -> None:
        self.architecture, self.arrays = architecture, arrays
        self.uma = uma or Uma(architecture.rewards)

    def orders(self, rounds: Floats) -> Floats:
        """The chances of the orders of finish at the start of each round.

        Args:
            rounds: ``[G, 4, T, 36]`` from `encode`.

        Returns:
            ``[G, T, 24]`` probabilities of `ORDERS`.
        """
        games, _, length, _ = rounds.shape
        x = rounds.reshape(games * 4, length, -1).swapaxes(0, 1)
        for layer in range(_LAYERS):
            x = self._recurrent(x, layer)
        hidden = np.maximum(self._layer("dense.{}")(x), np.float32(0.0))
        scores = self._layer("answer.{}")(hidden)
        return softmax(_SUMMED(scores.reshape(length, games, -1).swapaxes(0, 1)))

    def with_uma(self, uma: Uma | None) -> Predictor:
        """The same predictor for another uma, None for its own."""
        return Predictor(self.architecture, self.arrays, uma)

    def _recurrent(self, x: Floats, layer: int) -> Floats:
        """``[T, N, hidden]`` from ``[T, N, C]``: a layer of gated recurrent units."""
        of_inputs, of_states = (self._layer(f"rounds.{{}}_{kind}_l{layer}") for kind in ("ih", "hh"))
        given = of_inputs(x)
        width = self.architecture.hidden
        state = np.zeros((x.shape[1], width), np.float32)
        found = np.empty((*x.shape[:2], width), np.float32)
        for at, now in enumerate(given):
            recalled = of_states(state)
            gates = sigmoid(now[:, : 2 * width] + recalled[:, : 2 * width])
            reset, update = gates[:, :width], gates[:, width:]
            new = np.tanh(now[:, 2 * width :] + reset * recalled[:, 2 * width :])
            state = found[at] = new + update * (state - new)
        return found

    def _layer(self, name: str) -> Layer:
        """The layer of a name that leaves open whether its weight or bias is meant."""
        return Layer(self.arrays[name.format("weight")].T, self.arrays[name.format("bias")])


def predict(predictor: Predictor, games: PaddedGames) -> NDArray[np.float64]:
    """The final reward each player can expect at the start of each round.

    The network predicts the orders of finish only. If scores count too, each is expected to stay as it is.

    Args:
        predictor: the predictor.
        games: their rounds so far.

    Returns:
        ``[G, T, 4]`` by player, in the units of the uma; undefined past a game's rounds.
    """
    if not games.starts.size:
        return np.zeros((*games.starts.shape, 4))
    by_place = _expected_rewards(predictor.orders(encode(games)), predictor.uma.by_place)
    return by_place + predictor.uma.of_scores(games.starts["scores"])


def _expected_rewards(orders: Floats, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """``[..., 4]`` by player, from the chances ``[..., 24]`` of the orders of finish."""
    by_order = PLACES @ rewards
    chances = orders.astype(np.float64)
    chances /= chances.sum(-1, keepdims=True)  # float32 is off by some 1e-7, and rewards are up to 135
    # BLAS would sum in an order that depends on the number of games
    found: NDArray[np.float64] = (chances[..., None] * by_order).sum(-2)
    return found


def round_rewards(predictor: Predictor, games: PaddedGames, scores: NDArray[Any]) -> NDArray[np.float64]:
    """The reward of each round of finished games: the change of the expected final reward.

    For the last round the final reward itself is used, so that the rounds add up to the game's reward minus
    the expectation at its start.

    Args:
        predictor: the predictor.
        games: all their rounds.
        scores: ``[G, 4]`` final scores.

    Returns:
        ``[G, T, 4]`` by player; zeros past a game's rounds.
    """
    expected = predict(predictor, games)
    after = np.zeros_like(expected)
    after[:, :-1] = expected[:, 1:]
    last = games.counts > 0
    after[last, games.counts[last] - 1] = final_rewards(scores, predictor.uma)[last]
    return np.where(games.dealt[..., None], after - expected, 0.0)
