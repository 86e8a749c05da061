"""A whole game at one table by Tenhou's four-player rules, with every wall fixed by a seed.

`game.table.round` plays the rounds; this module keeps the score, deals the next round and ends the game.
Players are absolute: player 0 deals first.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Final, Self, TypeAlias

import numpy as np
from msgspec.structs import replace

from game.actions import Action
from game.events import Draw, EndGame, Four, GameEvent, StartGame, StartRound, four
from game.observation import Observation
from game.scoring.settlement import (
    LAST_ROUND,
    START_SCORE,
    GameLength,
    final_results,
    final_scores,
    game_over,
    next_round,
)
from game.table.engine import TableEngine
from game.table.round import Round, RoundResult
from game.table.walls import round_wall
from game.tiles import TILES, UNSEEN

Names: TypeAlias = tuple[str, str, str, str]

_UNSEEN_HAND: Final = (UNSEEN,) * 13


def masked(event: GameEvent, player: int) -> GameEvent:
    """The event as a player at the table sees it: others' hands and draws unseen."""
    if isinstance(event, Draw):
        return event if event.player == player else Draw(event.player, UNSEEN)
    if isinstance(event, StartRound):
        hands = four(hand if owner == player else _UNSEEN_HAND for owner, hand in enumerate(event.hands))
        return replace(event, hands=hands)
    if isinstance(event, StartGame):
        return StartGame(event.names, player)
    return event


class Table:
    """One game, from the first deal to the final scores.

    Attributes:
        events: everything so far, all tiles known.
        seed: determines every wall that is not given.
        length: hanchan or tonpuu.
        done: whether the game is over.
        results: results of the finished rounds.
    """

    def __init__(
        self,
        seed: int | None = None,
        wall: Sequence[int] | None = None,
        length: GameLength = "hanchan",
        names: Names = ("", "", "", ""),
        *,
        round_index: int = 0,
        honba: int = 0,
        riichi_sticks: int = 0,
        scores: Four = (START_SCORE,) * 4,
    ) -> None:
        """Set up the game and deal.

        Args:
            seed: determines every wall; None for an unpredictable one.
            wall: the first round's wall in deal order (`game.table.walls`); the seed determines later ones.
            length: length of the game.
            names: names of the players.
            round_index: first round; give it and the next three arguments to start from the middle of a game.
            honba: repeat counters of that round.
            riichi_sticks: on the table at its start.
            scores: at its start.

        Raises:
            ValueError: there is no such wall or length.
        """
        self._begin(length, seed)
        self.events.append(StartGame(names))
        if wall is None:
            wall = round_wall(self.seed, 0)
        elif sorted(wall) != list(range(TILES)):
            raise ValueError(f"a wall has each of the {TILES} tiles once")
        self._round = Round(self.events, wall, round_index, honba, riichi_sticks, scores).deal()

    def _begin(self, length: GameLength, seed: int | None) -> None:
        if length not in LAST_ROUND:
            raise ValueError(f"length {length!r}: give hanchan or tonpuu")
        self.seed = secrets.randbits(63) if seed is None else seed
        self.length: GameLength = length
        self.events: list[GameEvent] = []
        self.done = False
        self.results: list[RoundResult] = []

    @property
    def state(self) -> np.void:
        """The current round's record with all hands known; owned by the table, read-only."""
        return self._round.state

    @property
    def round_index(self) -> int:
        """The current round: 0 East 1, 4 South 1, 8 West 1."""
        return self._round.round_index

    @property
    def honba(self) -> int:
        """Repeat counters of the current round."""
        return self._round.honba

    @property
    def riichi_sticks(self) -> int:
        """Sticks on the table; at the end of the game they have gone to first place."""
        return self._round.riichi_sticks

    @property
    def scores(self) -> Four:
        """Current points, paid riichi sticks deducted."""
        return self._round.scores

    @property
    def wall(self) -> Sequence[int]:
        """The current round's wall in deal order (`game.table.walls`)."""
        return self._round.wall

    @property
    def engine(self) -> TableEngine:
        """The current round at the rules engine's table, to compare with."""
        return self._round.engine

    def waiting(self) -> list[int]:
        """The players who must answer now, ascending; empty only when the game is over."""
        return list(self._round.asked)

    def legal(self, player: int) -> list[Action]:
        """A player's legal actions; empty if the player is not asked."""
        return list(self._round.choices(player)) if player in self._round.asked else []

    def observe(self, player: int) -> Observation:
        """A player's decision; its record is that of `state`, with all hands known, and changes with it."""
        return Observation(self.state, player, tuple(self.legal(player)), self.length)

    def step(self, actions: Mapping[int, Action]) -> list[GameEvent]:
        """Submit the answers of the players who were asked.

        Args:
            actions: one for the player whose turn it is; on a claim, a player left out passes. Other copies
                of the faces listed by `legal` are accepted.

        Returns:
            The events up to the next question; at the end of a round they include the next deal.

        Raises:
            IllegalActionError: a player was not asked, may not do that, or gave no answer on its turn.
        """
        before = len(self.events)
        self._round.answer(actions)
        if self._round.result is not None:
            self._go_on(self._round.result)
        return self.events[before:]

    def clone(self) -> Self:
        """An independent copy over the same walls."""
        twin = type(self).__new__(type(self))
        twin.seed = self.seed
        twin.length = self.length
        twin.events = self.events.copy()
        twin.done = self.done
        twin.results = self.results.copy()
        twin._round = self._round.clone(twin.events)
        return twin

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        return self.clone()

    @classmethod
    def restore(
        cls,
        record: np.void,
        hands: Sequence[Sequence[int]],
        hidden: Sequence[int],
        *,
        length: GameLength = "hanchan",
        seed: int | None = None,
    ) -> Table:
        """Play on from the middle of a round: one player's view of it, and a guess at the unseen tiles.

        ``events`` then starts with the next event; `state` is the record with all hands filled in.

        Args:
            record: the round as seen so far, in a phase in which players are asked, or just dealt, before
                the dealer draws.
            hands: concealed tiles of each player, with a tile just drawn last.
            hidden: the tiles neither in a hand nor on the table, in deal order: those to be drawn, then the
                dead wall without the revealed indicators (`game.table.walls.hidden_places`).
            length: length of the game.
            seed: determines the walls of later rounds.

        Raises:
            StateMismatchError: the round is in another phase, or the tiles do not fit the record.
        """
        table = cls.__new__(cls)
        table._begin(length, seed)
        table._round = Round.restore(table.events, record, hands, hidden)
        if table._round.result is not None:
            table._go_on(table._round.result)
        return table

    def _go_on(self, result: RoundResult) -> None:
        """Deal the next round, or end the game."""
        ended = self._round
        self.results.append(result)
        repeats, aborted = result.dealer_repeats, result.aborted
        if game_over(ended.round_index, repeats, ended.scores, self.length, aborted=aborted):
            ended.scores = final_scores(ended.scores, ended.riichi_sticks)
            ended.riichi_sticks = 0
            self.events.append(EndGame(ended.scores, final_results(ended.scores)))
            self.done = True
            return
        index, honba = next_round(
            ended.round_index, ended.honba, dealer_repeats=result.dealer_repeats, won=result.won
        )
        wall = round_wall(self.seed, len(self.results))
        self._round = Round(self.events, wall, index, honba, ended.riichi_sticks, ended.scores).deal()
