"""Plays each option of a decision out over the same deals: to the end of the round, or up to a horizon.

Everybody plays on by the same policy over the same tiles, so the difference between two options has less
noise than the value of either. Most of the remaining noise arises late in the round and has little to do with
the decision. A play-out that is cut after some discards, with the rest valued by a critic, has less noise and
takes less time, but adds the critic's errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.actions import RIICHI, Action, ActionKind
from game.scoring.settlement import GameLength
from game.table.table import Table
from kit.errors import ModelError
from policies.deals.deal import Deals
from policies.play.critic import Critic, is_at_a_draw, reward_of_sticks
from policies.play.rollout import TABLES, Chooser, Rollout, Seating
from policies.reward.encoding import final_rewards, round_starts, together
from policies.reward.predictor import Predictor, predict

_EVERYBODY: Final = (0, 0, 0, 0)
_NEXT_SEED: Final = 0
"""Seed of the walls after the round, which nobody plays."""


Unit: TypeAlias = Literal["points", "reward"]


class EndValue(Protocol):
    """Values the end of a round."""

    def __call__(self, tables: Sequence[Table], player: int) -> NDArray[np.float64]:
        """``[N]``: the value of each table to a player.

        The rounds have just ended. If a round was cut, this is the value so far, without the rest of the
        round (see `CutValue`).
        """


def points_value(tables: Sequence[Table], player: int) -> NDArray[np.float64]:
    """``[N]``: the player's points."""
    return np.array([table.scores[player] for table in tables], np.float64)


class RewardValue:
    """The expected final reward of a player.

    Source: Suphx, arXiv:2003.13590, section 3.2.

    Args:
        predictor: predicts final rewards.
        starts: ``[T]`` of `policies.reward.encoding.ROUND_START`, the rounds of the game up to the present
            one.
    """

    def __init__(self, predictor: Predictor, starts: NDArray[np.void]) -> None:
        self._predictor = predictor
        self._starts = starts
        self._now: NDArray[np.float64] | None = None

    def __call__(self, tables: Sequence[Table], player: int) -> NDArray[np.float64]:
        """See `EndValue`."""
        found = np.zeros(len(tables))
        over = np.array([table.done for table in tables], np.bool_)
        goes_on = np.array([bool(table.results) for table in tables], np.bool_) & ~over
        if over.any():
            scores = np.array([table.scores for table in tables if table.done])
            found[over] = final_rewards(scores, self._predictor.uma)[:, player]
        if goes_on.any():
            next_rounds = [
                round_starts(tables[place].events)[-1:] for place in np.flatnonzero(goes_on).tolist()
            ]
            found[goes_on] = self._expected(next_rounds, tables[0].length)[:, player]
        cut = ~(over | goes_on)
        if cut.any():
            if self._now is None:
                self._now = self._expected([self._starts[:0]], tables[0].length)[0]
            scores = np.array([tables[place].scores for place in np.flatnonzero(cut).tolist()])
            paid = reward_of_sticks(self._starts["scores"][-1], scores)
            found[cut] = self._now[player] + paid[:, player]
        return found

    def _expected(self, later: Sequence[NDArray[np.void]], length: GameLength) -> NDArray[np.float64]:
        """``[N, 4]`` by player: expected at the start of the last round, of the game and later ones."""
        games = together([(np.append(self._starts, each), length) for each in later])
        found: NDArray[np.float64] = predict(self._predictor, games)[:, -1]
        return found


class CutValue:
    """The value of tables whose rounds have ended, or were cut at a horizon.

    Args:
        value: of the ends of rounds.
        unit: its unit.
        critic: predicts what the rest of a cut round adds.
    """

    def __init__(self, value: EndValue, unit: Unit, critic: Critic) -> None:
        self._value, self._unit, self._critic = value, unit, critic

    def __call__(self, tables: Sequence[Table], player: int) -> NDArray[np.float64]:
        """See `EndValue`."""
        found = self._value(tables, player)
        cut = [place for place, table in enumerate(tables) if not (table.results or table.done)]
        if cut:
            states = [tables[place].state for place in cut]
            found[cut] += getattr(self._critic.rest(states, tables[cut[0]].length), self._unit)[:, player]
        return found


class Branching(NamedTuple):
    """One decision whose options are to be played out.

    Attributes:
        deals: possible deals of the hidden tiles; deal ``i`` gives the same table at every call.
        options: legal actions of the player; a riichi may have its discard as ``tile``.
        numbers: the deals to play over.
    """

    deals: Deals
    options: Sequence[Action]
    numbers: Sequence[int]

    def values(self, ends: Sequence[Table], value: EndValue) -> NDArray[np.float64]:
        """``[numbers, options]``: values of the ends of the round, from `Playouts.ends`."""
        found = value(ends, self.deals.view.player)
        return found.reshape(len(self.numbers), len(self.options))

    def ahead(self, ends: Sequence[Table], value: EndValue) -> NDArray[np.float64]:
        """``[numbers]``: advantage of the first of two options over the second."""
        values = self.values(ends, value)
        found: NDArray[np.float64] = values[:, 0] - values[:, 1]
        return found


class Playouts:
    """Plays options out to the end of their rounds, or up to a horizon.

    Args:
        chooser: plays for everybody.
        length: length of the games.
        tables: played side by side.
        horizon: discards of all players, the option's included, after which a round is cut at the next draw;
            0 to play to the end. `CutValue` values rounds that were cut.
    """

    def __init__(self, chooser: Chooser, length: GameLength, tables: int = TABLES, horizon: int = 0) -> None:
        self._rollout = Rollout([chooser], tables=tables, length=length)
        self._horizon = horizon

    def ends(self, branchings: Sequence[Branching]) -> list[list[Table]]:
        """Play the options of decisions out, all of them side by side.

        Returns:
            For each decision the tables at the end of the round or the horizon: the options over the first
            deal, then those over the next.

        Raises:
            ModelError: a table crashed.
        """
        first = [
            {each.deals.view.player: _discarded(option)}
            for each in branchings
            for _ in each.numbers
            for option in each.options
        ]
        last = [
            int(each.deals.view.record["discard_count"]) + self._horizon
            for each in branchings
            for _ in range(len(each.numbers) * len(each.options))
        ]

        def stop(seating: Seating, table: Table) -> bool:
            state = table.state
            far = self._horizon and state["discard_count"] >= last[seating.number]
            return bool(far) and is_at_a_draw(state)

        try:
            played = self._rollout.finish_rounds(
                _tables(branchings),
                lambda seating: first[seating.number],
                stop=stop,
            )
            ended = {seating.number: table for seating, table in played}
        except RuntimeError as error:
            raise ModelError(f"a play-out crashed: {error}") from error
        in_order = (ended[number] for number in range(len(first)))
        return [
            list(itertools.islice(in_order, len(each.numbers) * len(each.options))) for each in branchings
        ]


def _tables(branchings: Sequence[Branching]) -> Iterator[tuple[Seating, Table]]:
    count = itertools.count()
    for each in branchings:
        for number in each.numbers:
            for option in each.options:
                table = each.deals.table(number, seed=_NEXT_SEED)
                if _discarded(option) != option:
                    table.step({each.deals.view.player: RIICHI})
                yield Seating(next(count), number, _EVERYBODY), table


def _discarded(option: Action) -> Action:
    """The discard of a riichi with a tile, which is declared before; other options as they are."""
    declared = option.kind is ActionKind.RIICHI and option != RIICHI
    return Action(ActionKind.DISCARD, option.tile) if declared else option
