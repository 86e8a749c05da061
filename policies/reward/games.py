"""Games as the reward predictor reads them: the start of each round, and the places at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.events import GameEvent, StartRound
from game.ranking import Rewards
from game.scoring.settlement import GameLength

ROUND_START: Final = np.dtype(
    [("round_index", "i1"), ("honba", "i2"), ("riichi_sticks", "i2"), ("scores", "i4", (4,))]
)
"""A round at the deal, with the fields of `game.layout.ROUND_STATE`; players are absolute."""


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
    """Places 1-4 of many games at once, as `game.scoring.settlement.placements` for one game.

    >>> places_of(np.array([[25_000, 30_000, 25_000, 20_000]]))
    array([[2, 1, 3, 4]])
    """
    order = np.argsort(-scores.astype(np.int64), axis=-1, kind="stable")
    return np.argsort(order, axis=-1) + 1
