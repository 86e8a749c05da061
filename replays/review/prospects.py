"""The expected reward of a game after an outcome of the running round, or the actual one if the game ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.events import Four
from game.scoring.settlement import GameLength, final_scores, game_over, next_round
from game.table.table import Table
from policies.reward import (
    ROUND_START,
    Predictor,
    final_rewards,
    predict,
    together,
)

_SEQUENCES: Final = 512
"""Games per batch of the predictor."""


class RoundSituation(NamedTuple):
    """The standing in a round: its index in the game, and the values that determine payments."""

    round: int
    round_index: int
    honba: int
    sticks: int
    scores: Four

    @property
    def dealer(self) -> int:
        """The dealer."""
        return self.round_index % 4


class _Next(NamedTuple):
    """The start of the round that would follow."""

    round: int
    round_index: int
    honba: int
    sticks: int
    scores: Four


class Prospects:
    """Expected rewards, computed in two steps: `after` collects outcomes, `answer` predicts them in batches.

    Args:
        network: the predictor.
        starts: ``[T]`` of `ROUND_START`, the starts of the rounds.
        length: length of the game.
    """

    def __init__(self, network: Predictor, starts: NDArray[np.void], length: GameLength) -> None:
        self._network = network
        self._starts = starts
        self._length: GameLength = length
        self._places: dict[_Next | Four, int] = {}
        self._rewards: NDArray[np.float64] = np.zeros((0, 4))

    def starts(self) -> NDArray[np.float64]:
        """``[T, 4]``: each player's expected reward at the start of each round."""
        expected: NDArray[np.float64] = predict(self._network, together([(self._starts, self._length)]))[0]
        return expected

    def final(self, scores: Four) -> NDArray[np.float64]:
        """``[4]``: the rewards of these final scores."""
        return final_rewards(np.array(scores), self._network.architecture.rewards)

    def after(
        self,
        standing: RoundSituation,
        changes: Sequence[float],
        winner: int | None = None,
        *,
        repeats: bool | None = None,
    ) -> int:
        """Request the rewards after a result.

        Args:
            standing: the standing before the result.
            changes: changes of the scores; a winner's include the sticks.
            winner: the winner, None if the wall ran out.
            repeats: whether the dealer deals again after a draw.

        Returns:
            The row of the answer.
        """
        again = winner == standing.dealer if winner is not None else bool(repeats)
        first, second, third, fourth = (
            100 * round((had + gets) / 100) for had, gets in zip(standing.scores, changes, strict=True)
        )
        scores = first, second, third, fourth
        sticks = 0 if winner is not None else standing.sticks
        key: _Next | Four
        if game_over(standing.round_index, again, scores, self._length, aborted=False):
            key = final_scores(scores, sticks)
        else:
            index, honba = next_round(
                standing.round_index, standing.honba, dealer_repeats=again, won=winner is not None
            )
            key = _Next(standing.round, index, honba, sticks, scores)
        return self._row(key)

    def of_table(self, number: int, table: Table) -> int:
        """Request the rewards of a table at which a round has just ended.

        Args:
            number: index of that round in the game.
            table: with the next round dealt, or at the end of the game.

        Returns:
            The row of the answer.
        """
        if table.done:
            return self._row(table.scores)
        return self._row(_Next(number, table.round_index, table.honba, table.riichi_sticks, table.scores))

    def _row(self, key: _Next | Four) -> int:
        return self._places.setdefault(key, len(self._places))

    def answer(self) -> None:
        """Predict everything that was requested."""
        self._rewards = np.zeros((len(self._places), 4))
        coming = [(place, key) for key, place in self._places.items() if isinstance(key, _Next)]
        for key, place in self._places.items():
            if not isinstance(key, _Next):
                self._rewards[place] = self.final(key)
        coming.sort(key=lambda each: each[1].round)
        for at in range(0, len(coming), _SEQUENCES):
            part = coming[at : at + _SEQUENCES]
            games = together([(self._with(key), self._length) for _, key in part])
            expected = predict(self._network, games)
            rows = np.arange(len(part))
            self._rewards[[place for place, _ in part]] = expected[rows, games.counts - 1]

    def _with(self, key: _Next) -> NDArray[np.void]:
        """The rounds up to the running one, and the next."""
        rows = np.empty(key.round + 2, ROUND_START)
        rows[:-1] = self._starts[: key.round + 1]
        rows[-1] = (key.round_index, key.honba, key.sticks, key.scores)
        return rows

    def reward(self, rows: Sequence[int], player: int) -> NDArray[np.float64]:
        """The player's expected reward in the outcomes of these rows."""
        rewards: NDArray[np.float64] = self._rewards[list(rows), player]
        return rewards
