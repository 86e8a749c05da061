"""What the rest of a round brought each player: the answers that the critic learns."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from learning.corpus.reader import Corpus, Numbers
from learning.reward.games import played_games
from learning.samples.loader import Moments
from policies.play.critic import POINTS_UNIT, REWARD_UNIT, reward_of_sticks
from policies.reward import PaddedGames, Predictor, final_rewards, predict

_GAMES_AT_ONCE: Final = 2048
_SEATS: Final = np.arange(4)


class Outcomes:
    """The results of all rounds of some games.

    Args:
        corpus: the games.
        numbers: ``[G]`` places of games in its index, ascending.
        predictor: predicts final rewards at the start of a round.
    """

    def __init__(self, corpus: Corpus, numbers: Numbers, predictor: Predictor) -> None:
        self._numbers = numbers
        self._games = played_games(corpus, numbers).games
        starts, counts = self._games.starts, self._games.counts
        rows, last = np.arange(len(numbers)), counts - 1
        final = corpus.index["scores"][numbers].astype(np.int64)
        self._after = np.roll(starts["scores"], -1, axis=1).astype(np.int64)
        self._after[rows, last] = final
        before = _expected(predictor, self._games)
        after = np.roll(before, -1, axis=1)
        after[rows, last] = final_rewards(final, predictor.architecture.rewards)
        self._reward = after - before

    def rest(self, moments: Moments) -> NDArray[np.float32]:
        """What the rest of the round brought.

        Args:
            moments: in these games.

        Returns:
            ``[B, 2, 4]``: as in `policies.play.critic.RestOfRound`, but in `POINTS_UNIT` and `REWARD_UNIT`,
            by seat from the player on.
        """
        games = np.searchsorted(self._numbers, moments.game)
        starts = self._games.starts[games]
        same = (starts["round_index"] == moments.round_index[:, None]) & self._games.dealt[games]
        rounds = (same & (starts["honba"] == moments.honba[:, None])).argmax(axis=1)
        points = (self._after[games, rounds] - moments.scores) / POINTS_UNIT
        paid = reward_of_sticks(starts["scores"][np.arange(len(rounds)), rounds], moments.scores)
        reward = (self._reward[games, rounds] - paid) / REWARD_UNIT
        seats = (moments.player[:, None] + _SEATS) % 4
        both = [np.take_along_axis(each, seats, axis=1) for each in (points, reward)]
        return np.stack(both, axis=1).astype(np.float32)


def _expected(predictor: Predictor, games: PaddedGames) -> NDArray[np.float64]:
    """``[G, T, 4]``: the final rewards expected at the start of each round."""
    found = []
    for start in range(0, len(games.counts), _GAMES_AT_ONCE):
        part = slice(start, start + _GAMES_AT_ONCE)
        some = PaddedGames(games.starts[part], games.counts[part], games.hanchan[part])
        found.append(predict(predictor, some))
    return np.concatenate(found)
