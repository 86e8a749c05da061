"""Decisions of recorded games: the options to play out, their values by the rules, and their play-outs.

Rounds are played out with all four hands as recorded and the wall drawn anew. The options of one decision
share their walls, so much of the luck of the draw cancels in their differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.actions import RIICHI, Action, ActionKind
from game.layout import AT_UNSEEN
from game.scoring.settlement import GameLength
from game.scoring.value import has_yaku
from game.state import is_furiten
from game.table.restore import concealed_hands
from game.table.table import Table
from policies.flow.slots import Policy
from policies.heuristic.outlook import Danger, danger_of, look
from policies.play.rollout import PolicyChooser, Rollout, Seating
from replays.record import GameRecord
from replays.review.grading import Kind, kind_of
from replays.review.judging import Opinion, opinions
from replays.review.moments import Moment, follow
from replays.review.prospects import Prospects
from replays.review.report import length_of, values_of
from replays.review.worth import Worth

Why: TypeAlias = Literal["played", "best", "drawn", "silent", "broken"]

_AGREED_SHARE: Final = 0.08
_DRAWN_SHARE: Final = 0.2
"""Share of agreeing decisions that are played out; share of those played out that get a random option too."""


class WeighedDecision(NamedTuple):
    """One decision with its values by the rules.

    Attributes:
        moment: the decision.
        opinion: the policy's opinion.
        danger: danger from the opponents.
        worth: values of the options, one for each kind of tile; riichi and discards only.
    """

    moment: Moment
    opinion: Opinion
    danger: Danger
    worth: Mapping[Action, Worth]

    @property
    def preferred(self) -> Action:
        """The policy's choice, as in ``worth``."""
        return self.same(self.opinion.preferred)

    @property
    def played(self) -> Action:
        """The player's action, as in ``worth``."""
        return self.same(self.moment.done)

    def same(self, action: Action) -> Action:
        """The option of the same kind of tile; the action itself if there is none."""
        return next((each for each in self.worth if _alike(each, action)), action)

    def chance(self, option: Action) -> float:
        """The policy's probability of an option; a kind of tile has one probability, stored for one copy."""
        probabilities = self.opinion.probabilities
        return max(chance for action, chance in probabilities.items() if _alike(action, option))

    def kind(self, option: Action) -> Kind:
        """The kind of choice between the preferred option and this one."""
        return kind_of(self.worth, self.preferred, option)


class PlayedOutOption(NamedTuple):
    """An option to play out for comparison with the preferred one.

    Attributes:
        action: the action.
        why: it was played; the rules value it most; it was drawn at random; it differs in whether riichi is
            declared; or the rules value it most among those that do not leave a tenpai hand where others do.
    """

    action: Action
    why: Why


def weighed(record: GameRecord, seat: int, policy: Policy, prospects: Prospects) -> list[WeighedDecision]:
    """The decisions of a player about discards and riichi whose preferred option has a value."""
    length = length_of(record.game_type)
    moments = follow(record.events, seat, length).moments
    thought = opinions(moments, policy)
    views = [look(moment.record, seat, length, reads_melds=True) for moment in moments]
    dangers = [danger_of(m.record, seat, view) for m, view in zip(moments, views, strict=True)]
    values = values_of(moments, seat, views, dangers, prospects)
    rows = [
        WeighedDecision(moment, opinion, danger, _by_kind(worth))
        for moment, opinion, danger, worth in zip(moments, thought, dangers, values, strict=True)
    ]
    return [row for row in rows if row.preferred in row.worth]


def options_of(decision: WeighedDecision, player: int, rng: np.random.Generator) -> list[PlayedOutOption]:
    """The options to play out for comparison with the preferred one; none for most decisions that agree.

    Decisions about tenpai are few and important, so all of them are taken.

    Discards that another player could win on are left out, and with them the risk of dealing in now, which is
    measured separately: a single certain loss would outweigh the differences between the hands.
    """
    chances = rng.random(2)
    worth = decision.worth
    found: dict[Action, Why] = {}
    agrees = decision.opinion.agrees(decision.moment.done)
    if not agrees and decision.played in worth:
        found[decision.played] = "played"
    if not agrees or chances[0] < _AGREED_SHARE:
        found.setdefault(_best(worth, worth), "best")
        if chances[1] < _DRAWN_SHARE:
            found.setdefault(list(worth)[int(rng.integers(len(worth)))], "drawn")
    silent = [action for action in worth if worth[action].shanten == 0]
    if silent:
        if RIICHI in worth:
            found.setdefault(_best(worth, silent) if decision.preferred == RIICHI else RIICHI, "silent")
        broken = [action for action in worth if worth[action].shanten]
        if broken:
            found.setdefault(_best(worth, broken), "broken")
    found.pop(decision.preferred, None)
    if _deals_in(decision, player, decision.preferred):
        return []
    return [
        PlayedOutOption(action, why)
        for action, why in found.items()
        if not _deals_in(decision, player, action)
    ]


def winners_on(record: np.void, player: int, tile: int) -> Iterator[int]:
    """The players who could win on a tile that a player would discard now, all hands known."""
    for other in range(4):
        waiting = other != player and int(record["waits"][other]) >> (tile >> 2) & 1
        if waiting and not is_furiten(record, other) and has_yaku(record, other, tile, False):
            yield other


def _best(worth: Mapping[Action, Worth], among: Iterable[Action]) -> Action:
    return max(among, key=lambda action: worth[action].total)


def _deals_in(decision: WeighedDecision, player: int, option: Action) -> bool:
    return option.kind is ActionKind.DISCARD and any(winners_on(decision.moment.record, player, option.tile))


def _by_kind(worth: Mapping[Action, Worth]) -> dict[Action, Worth]:
    found: dict[Action, Worth] = {}
    for action, value in worth.items():
        known = any(_alike(each, action) for each in found)
        if action.kind is ActionKind.DISCARD and not known:
            found[action] = value
    declared = [action for action in worth if action.kind is ActionKind.RIICHI]
    if declared:
        found[RIICHI] = worth[_best(worth, declared)]._replace(shanten=None)
    return found


def _alike(one: Action, other: Action) -> bool:
    if one.kind is other.kind is ActionKind.RIICHI:
        return True  # played out, the policy chooses the discard
    return one.kind is other.kind and one.tile >> 2 == other.tile >> 2


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
