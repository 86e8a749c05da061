"""Games of the corpus as input for the reward predictor: their rounds as dealt, and their results."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.packing import LENGTHS, START_ROUND, Packed
from kit.errors import StateMismatchError
from kit.jit import kernel, warms_up
from learning.data.corpus import Corpus, Numbers
from policies.reward.encoding import ROUND_START, PaddedGames

_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)
_HUNDREDS: Final = 100
_HEAD: Final = 8
"""Fields of a packed deal between its code and the tiles."""


class GamesWithPlaces(NamedTuple):
    """Finished games: ``games [G]`` with their rounds, ``places [G, 4]`` int64, 1-4 by player."""

    games: PaddedGames
    places: NDArray[np.int64]


def played_games(corpus: Corpus, numbers: Numbers) -> GamesWithPlaces:
    """Read games by their place in the index.

    Raises:
        StateMismatchError: a game's events cannot be separated, or its rounds do not match the index.
    """
    index = corpus.index[numbers]
    starts = np.zeros((len(numbers), int(index["rounds"].max(initial=0))), ROUND_START)
    heads = np.empty((starts.shape[1], _HEAD), np.int16)
    for row, number, rounds in zip(starts, numbers.tolist(), index["rounds"].tolist(), strict=True):
        found = _heads(corpus.events(number), heads)
        if found != rounds:
            raise StateMismatchError(f"{corpus.game_id(number)}: {found} rounds, {rounds} in the index")
        row["round_index"][:found] = heads[:found, 0]
        row["honba"][:found] = heads[:found, 1]
        row["riichi_sticks"][:found] = heads[:found, 2]
        row["scores"][:found] = heads[:found, 4:].astype(np.int64) * _HUNDREDS
    games = PaddedGames(starts, index["rounds"].astype(np.int64), index["hanchan"] == 1)
    return GamesWithPlaces(games, index["places"].astype(np.int64))


@kernel
def _heads(codes: Any, heads: Any) -> int:
    """Write the numbers of each deal; return the number of deals, -1 if the events cannot be separated."""
    at = 0
    found = 0
    while at < codes.size:
        what = codes[at]
        if what < 1 or what >= _LENGTHS.size or at + _LENGTHS[what] > codes.size:
            return -1
        if what == START_ROUND:
            if found < len(heads):
                heads[found] = codes[at + 1 : at + 1 + _HEAD]
            found += 1
        at += _LENGTHS[what]
    return found


@warms_up
def _warm_up() -> None:
    none: Packed = np.empty(0, np.int16)
    _heads(none, np.empty((0, _HEAD), np.int16))
