"""What the options of a decision lead to: each is played to the end of the round over the same sampled deals.

Everybody plays on by the same policy, so the difference of two options over one deal has less noise than
either: its tiles are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.errors import ModelError
from game.table import Table
from policies.deals.deal import Deals
from policies.reward import Predictor, final_rewards, predict, round_starts, together
from policies.rollout import TABLES, Chooser, Rollout, Seating

_EVERYBODY: Final = (0, 0, 0, 0)
_NEXT_SEED: Final = 0
"""Seed of the walls after the round, which nobody plays."""


class EndWorth(Protocol):
    """Says what the end of a round is worth."""

    def __call__(self, tables: Sequence[Table], player: int) -> NDArray[np.float64]:
        """``[N]``: what each of the tables, whose rounds have just ended, is worth to a player."""


def points_worth(tables: Sequence[Table], player: int) -> NDArray[np.float64]:
    """The player's points."""
    return np.array([table.scores[player] for table in tables], np.float64)


class RewardWorth:
    """The final reward that a player can expect.

    Source: Suphx, arXiv:2003.13590, section 3.2.

    Args:
        predictor: expects final rewards.
        starts: ``[T]`` of `policies.reward.ROUND_START`, the rounds of the game up to the present one.
    """

    def __init__(self, predictor: Predictor, starts: NDArray[np.void]) -> None:
        self._predictor = predictor
        self._starts = starts

    def __call__(self, tables: Sequence[Table], player: int) -> NDArray[np.float64]:
        """See `EndWorth`."""
        found = np.zeros(len(tables))
        over = np.array([table.done for table in tables], np.bool_)
        if over.any():
            scores = np.array([table.scores for table in tables if table.done])
            found[over] = final_rewards(scores, self._predictor.architecture.rewards)[:, player]
        if not over.all():
            going = [table for table in tables if not table.done]
            games = together(
                [(np.append(self._starts, round_starts(table.events)[-1:]), table.length) for table in going]
            )
            found[~over] = predict(self._predictor, games)[:, len(self._starts), player]
        return found


class Playouts:
    """Plays the options of one decision out.

    Args:
        chooser: plays for everybody.
        deals: what the player may be facing; deal ``i`` gives the same table at every call.
        worth: says what the ends are worth.
        tables: played side by side.
    """

    def __init__(self, chooser: Chooser, deals: Deals, worth: EndWorth, tables: int = TABLES) -> None:
        self._deals, self._worth = deals, worth
        self._rollout = Rollout([chooser], tables=tables, length=deals.view.length)

    def values(self, options: Sequence[Action], numbers: Sequence[int]) -> NDArray[np.float64]:
        """What the options are worth over some of the deals.

        Args:
            options: legal actions of the player.
            numbers: the deals.

        Returns:
            ``[numbers, options]``.

        Raises:
            ModelError: a table crashed.
        """
        player = self._deals.view.player
        try:
            played = self._rollout.finish_rounds(
                self._tables(options, numbers),
                lambda seating: {player: options[seating.number % len(options)]},
            )
            ended = [(seating.number, table) for seating, table in played]
        except RuntimeError as error:
            raise ModelError(f"a play-out crashed: {error}") from error
        ended.sort(key=lambda pair: pair[0])
        found = self._worth([table for _, table in ended], player)
        return found.reshape(len(numbers), len(options))

    def _tables(self, options: Sequence[Action], numbers: Sequence[int]) -> Iterator[tuple[Seating, Table]]:
        for row, number in enumerate(numbers):
            for column in range(len(options)):
                table = self._deals.table(number, seed=_NEXT_SEED)
                yield Seating(row * len(options) + column, number, _EVERYBODY), table
