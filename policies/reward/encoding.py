"""The inputs of the reward predictor: each round as numbers, by player.

Each round is described at the deal: every player's score, the changes of the previous round, dealer, honba,
sticks, the progress of the game, and the player's lead over each opponent, coarse and fine, because at the
end a hundred points can decide a place. ``rounds-36/1`` adds what the round can change
(`policies.reward.outcomes`). The predicted player always comes first, so one network serves all four. Rounds
are counted from the last regular one: a hanchan at South 1 has as much left as a tonpuu at East 1, so each
helps to train the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.settlement import LAST_ROUND, START_SCORE
from policies.reward.games import PaddedGames
from policies.reward.outcomes import OUTCOME_INPUTS, places_after

Encoding: TypeAlias = Literal["rounds-28/1", "rounds-36/1"]
"""Name of an encoding; other numbers need another name."""

ROUNDS: Final = "rounds-28/1"
ROUNDS_AND_OUTCOMES: Final = "rounds-36/1"
_ROUND_INPUTS: Final = 28
INPUTS: Final[Mapping[Encoding, int]] = {
    ROUNDS: _ROUND_INPUTS,
    ROUNDS_AND_OUTCOMES: _ROUND_INPUTS + OUTCOME_INPUTS,
}
"""Numbers of each."""
CHANGES: Final = slice(0, 4)
"""Indices of the previous round's changes; zeros in the first known round."""

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


def encode(games: PaddedGames, encoding: Encoding) -> NDArray[np.float32]:
    """The network's input for each player.

    Returns:
        ``[G, 4, T, C]`` by player: changes of the previous round (4, by seat from the player on), scores
        relative to the start (4, likewise), dealer (4 flags, likewise), rounds past the last regular one,
        honba, sticks, whether the game is a hanchan, whether the player is ahead of each opponent (3 flags),
        and by how much (3 each at three scales, -1 to 1); with ``rounds-36/1``, the probability of each place
        after the round, and of each together with the end of the game (8). The first known round has no
        changes.
    """
    starts = games.starts
    points = starts["scores"] / _POINTS
    changes = np.zeros_like(points)
    changes[:, 1:] = np.diff(points, axis=1)
    last = np.where(games.hanchan, LAST_ROUND["hanchan"], LAST_ROUND["tonpuu"])
    dealers = starts["round_index"] % 4
    out = np.empty((len(starts), 4, starts.shape[1], INPUTS[encoding]), np.float32)
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
    if encoding == ROUNDS_AND_OUTCOMES:
        out[..., _ROUND_INPUTS:] = places_after(games).swapaxes(1, 2)
    return out
