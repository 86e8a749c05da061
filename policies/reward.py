"""The global reward predictor: the final reward each player can expect, from the rounds so far.

At the start of every round it predicts each player's reward by final place. The reward of a round is the
change of that prediction; after the last round the places are known and need no prediction. A network reads
the rounds in order: a two-layer GRU, then two dense layers.

Each round is described by 28 numbers at the deal: every player's score, the changes of the previous round,
dealer, honba, sticks, the progress of the game, and the player's lead over each opponent, coarse and fine,
because at the end a hundred points can decide a place. The predicted player always comes first, so one
network serves all four. Rounds are counted from the last regular one: a hanchan at South 1 has as much left
as a tonpuu at East 1, so each helps to train the other.

Source: Suphx, arXiv:2003.13590, section 3.2, equation 4, figure 7.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec
import numpy as np
import structlog
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from game.events import GameEvent, StartRound
from game.ranking import HANCHAN_REWARDS, Rewards
from game.settlement import LAST_ROUND, START_SCORE, GameLength
from policies.faults import is_device_fault

log = structlog.get_logger(__name__)

Encoding: TypeAlias = Literal["rounds-28/1"]
"""Name of the encoding; other numbers need another name."""

INPUTS: Final = 28
CHANGES: Final = slice(0, 4)
"""Indices of the previous round's changes; zeros in the first known round."""
ENCODING: Final[Encoding] = "rounds-28/1"

ROUND_START: Final = np.dtype(
    [("round_index", "i1"), ("honba", "i2"), ("riichi_sticks", "i2"), ("scores", "i4", (4,))]
)
"""A round at the deal, with the fields of `game.layout.ROUND_STATE`; players are absolute."""

_POINTS: Final = 10_000
_ROUNDS: Final = 8
_COUNTERS: Final = 5
_SCORES: Final = slice(4, 8)
_DEALER: Final = slice(8, 12)
_AHEAD: Final = slice(16, 19)
_GAPS: Final = ((slice(19, 22), 1_000), (slice(22, 25), 4_000), (slice(25, 28), 12_000))
"""Indices of the leads, and the points at which each begins to saturate."""
_PLAYERS: Final = np.arange(4)
_IN_ORDER: Final = (_PLAYERS[:, None] + _PLAYERS) % 4
"""``[player, seat]``: the absolute player at each seat relative to the player."""


class PaddedGames(NamedTuple):
    """Rounds of games, padded to one length.

    Attributes:
        starts: ``[G, T]`` of `ROUND_START`; zeros past a game's rounds.
        counts: ``[G]`` rounds that have been dealt.
        hanchan: ``[G]`` bool, false for a tonpuu.
    """

    starts: NDArray[np.void]
    counts: NDArray[np.int64]
    hanchan: NDArray[np.bool_]

    @property
    def dealt(self) -> NDArray[np.bool_]:
        """``[G, T]``: true for rounds, false for padding."""
        dealt: NDArray[np.bool_] = np.arange(self.starts.shape[1]) < self.counts[:, None]
        return dealt


class RewardArchitecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="reward"):
    """The sizes of a predictor, and the meaning of its answers.

    Attributes:
        encoding: version of the input encoding.
        hidden: width of each layer of the GRU.
        dense: width between the two dense layers.
        rewards: rewards of the places, first to fourth, as in training.
    """

    encoding: Encoding = ENCODING
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


class RewardNetwork(nn.Module):
    """Two recurrent layers and two dense ones.

    Args:
        architecture: its sizes.
    """

    def __init__(self, architecture: RewardArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.rounds = nn.GRU(INPUTS, architecture.hidden, num_layers=2, batch_first=True)
        self.dense = nn.Linear(architecture.hidden, architecture.dense)
        self.answer = nn.Linear(architecture.dense, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the final reward at the start of each round.

        Args:
            x: ``[B, T, 28]`` from `encode`.

        Returns:
            ``[B, T]`` in units of `RewardArchitecture.scale`; each depends on its own and earlier rounds.
        """
        seen, _ = self.rounds(x)
        expected: Tensor = self.answer(functional.relu(self.dense(seen)))
        return expected.squeeze(-1)


class Predictor(Protocol):
    """What `predict` asks: a `RewardNetwork`, here or on another device."""

    @property
    def architecture(self) -> RewardArchitecture:
        """What it was built from."""

    def __call__(self, rounds: Tensor) -> Tensor:
        """Expected rewards as `RewardNetwork.forward` returns them, on the CPU."""


class DevicePredictor:
    """A predictor on a device; if that runs out of memory or is lost, on the CPU from then on.

    Args:
        network: the predictor, on the CPU; not changed.
        device: where to compute.
    """

    def __init__(self, network: RewardNetwork, device: torch.device | str) -> None:
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


def round_starts(events: Iterable[GameEvent]) -> NDArray[np.void]:
    """``[T]`` of `ROUND_START`: the rounds dealt in a game so far."""
    rows = [
        (event.round_index, event.honba, event.riichi_sticks, event.scores)
        for event in events
        if isinstance(event, StartRound)
    ]
    return np.array(rows, dtype=ROUND_START)


def together(games: Sequence[tuple[NDArray[np.void], GameLength]]) -> PaddedGames:
    """Games of different lengths as one array.

    Args:
        games: the rounds ``[T]`` of each, records of `ROUND_START` or of `game.layout.ROUND_STATE` just after
            the deal, and its length.
    """
    counts = np.array([len(starts) for starts, _ in games], np.int64)
    padded = np.zeros((len(games), int(counts.max(initial=0))), ROUND_START)
    for row, (starts, _) in zip(padded, games, strict=True):
        for name in ROUND_START.names or ():
            row[name][: len(starts)] = starts[name]
    return PaddedGames(padded, counts, np.array([length == "hanchan" for _, length in games], np.bool_))


def encode(games: PaddedGames) -> NDArray[np.float32]:
    """The network's input for each player.

    Returns:
        ``[G, 4, T, 28]`` by player: changes of the previous round (4, by seat from the player on), scores
        relative to the start (4, likewise), dealer (4 flags, likewise), rounds past the last regular one,
        honba, sticks, whether the game is a hanchan, whether the player is ahead of each opponent (3 flags),
        and by how much (3 each at three scales, -1 to 1). The first known round has no changes.
    """
    starts = games.starts
    points = starts["scores"] / _POINTS
    changes = np.zeros_like(points)
    changes[:, 1:] = np.diff(points, axis=1)
    last = np.where(games.hanchan, LAST_ROUND["hanchan"], LAST_ROUND["tonpuu"])
    dealers = starts["round_index"] % 4
    out = np.empty((len(starts), 4, starts.shape[1], INPUTS), np.float32)
    for player, order in enumerate(_IN_ORDER):
        rows = out[:, player]
        rows[..., CHANGES] = changes[..., order]
        rows[..., _SCORES] = points[..., order] - START_SCORE / _POINTS
        rows[..., _DEALER] = dealers[..., None] == order
        others = order[1:]
        gaps = starts["scores"][..., [player]] - starts["scores"][..., others]
        rows[..., _AHEAD] = np.where(gaps, gaps > 0, player < others)  # ties go to the first in seat order
        for places, measure in _GAPS:
            rows[..., places] = np.tanh(gaps / measure)
    out[..., 12] = ((starts["round_index"] - last[:, None]) / _ROUNDS)[:, None]
    out[..., 13] = (starts["honba"] / _COUNTERS)[:, None]
    out[..., 14] = (starts["riichi_sticks"] / _COUNTERS)[:, None]
    out[..., 15] = games.hanchan[:, None, None]
    return out


def final_rewards(scores: NDArray[Any], rewards: Rewards) -> NDArray[np.float64]:
    """The rewards of finished games.

    Args:
        scores: ``[..., 4]`` final scores, with or without the sticks left on the table.
        rewards: rewards of the places.

    Returns:
        ``[..., 4]`` by player.
    """
    return np.array(rewards, np.float64)[places_of(scores) - 1]


def places_of(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Places 1-4 of many games at once, as `game.settlement.placements` for one game.

    >>> places_of(np.array([[25_000, 30_000, 25_000, 20_000]]))
    array([[2, 1, 3, 4]])
    """
    order = np.argsort(-scores.astype(np.int64), axis=-1, kind="stable")
    return np.argsort(order, axis=-1) + 1


@torch.inference_mode()
def predict(network: Predictor, games: PaddedGames) -> NDArray[np.float64]:
    """The final reward each player can expect at the start of each round.

    The four rewards have a fixed sum, so the error in the sum of the four predictions is subtracted in equal
    parts.

    Args:
        network: the predictor, in any mode; training and evaluation do not differ.
        games: their rounds so far.

    Returns:
        ``[G, T, 4]`` by player, in the units of the rewards; undefined past a game's rounds.
    """
    shape = games.starts.shape
    if not games.starts.size:
        return np.zeros((*shape, 4))
    expected = network(torch.from_numpy(encode(games)).flatten(0, 1)).double().numpy()
    return evened(expected.reshape(len(games.counts), 4, -1).swapaxes(1, 2), network.architecture)


def evened(expected: NDArray[np.float64], architecture: RewardArchitecture) -> NDArray[np.float64]:
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
