"""Plays rounds to their ends from recorded decisions, once for each option, over the same random walls.

All four hands are those of the record; the wall is drawn anew. The options of one decision share their walls,
so much of the luck of the draw cancels in their differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.layout import AT_UNSEEN
from game.scoring.settlement import GameLength
from game.table.restore import concealed_hands
from game.table.table import Table
from policies.flow.slots import Policy
from policies.play.rollout import PolicyChooser, Rollout, Seating
from replays.review.moments import Moment
from replays.review.prospects import Prospects

_EVERYBODY = (0, 0, 0, 0)


class Choices(NamedTuple):
    """A recorded decision and the options to be played out."""

    moment: Moment
    options: tuple[Action, ...]


def play_out(
    asked: Sequence[Choices],
    player: int,
    length: GameLength,
    policy: Policy,
    prospects: Prospects,
    *,
    worlds: int,
    seed: Sequence[int],
) -> list[NDArray[np.float64]]:
    """The final reward of each option over each random wall, with one policy playing on for all players.

    Args:
        asked: decisions of one game.
        player: the deciding player, absolute.
        length: length of the game.
        policy: the policy that plays.
        prospects: the reward predictor for the game.
        worlds: number of walls drawn for each decision.
        seed: seed of the walls.

    Returns:
        For each decision ``[options, worlds]``.
    """
    shapes = [(len(each.options), worlds) for each in asked]
    ends = np.cumsum([0, *(options * drawn for options, drawn in shapes)]).tolist()
    rows = np.zeros(ends[-1], np.int64)
    rounds = np.repeat([each.moment.round for each in asked], np.diff(ends))
    rollout = Rollout([PolicyChooser(policy)], length=length)
    tables = _tables(asked, player, length, worlds=worlds, seed=seed)
    for seating, table in rollout.finish_rounds(tables):
        rows[seating.number] = prospects.of_table(int(rounds[seating.number]), table)
    prospects.answer()
    rewards = prospects.reward(rows.tolist(), player)
    return [rewards[ends[n] : ends[n + 1]].reshape(shape) for n, shape in enumerate(shapes)]


def _tables(
    asked: Sequence[Choices], player: int, length: GameLength, *, worlds: int, seed: Sequence[int]
) -> Iterator[tuple[Seating, Table]]:
    """The table after each option in each world, numbered in this order."""
    number = 0
    for decision, (moment, options) in enumerate(asked):
        hands = concealed_hands(moment.record)
        hidden = np.flatnonzero(moment.record["where"] == AT_UNSEEN)
        walls = [
            np.random.default_rng([*seed, decision, world]).permutation(hidden).tolist()
            for world in range(worlds)
        ]
        for action in options:
            for wall in walls:
                table = Table.restore(moment.record, hands, wall, length=length, seed=0)
                table.step({player: action})
                yield Seating(number, 0, _EVERYBODY), table
                number += 1
