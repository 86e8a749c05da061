"""A two-player game that checks its actions, remembers its positions and can take actions back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from game.tiles import KINDS
from game.two_player.layout import (
    ACTIONS,
    CLAIM,
    DECK,
    DISCARD,
    DISCARD_OF,
    DRAWN,
    OVER,
    PASS,
    POSITION,
    TILES,
    action_text,
    shuffle,
)
from game.two_player.rules import apply, deal, legal_actions, round_of
from kit.errors import IllegalActionError

PHASE_NAMES: Final = {CLAIM: "claim", DRAWN: "drawn", DISCARD: "discard", OVER: "over"}


def seeded_wall(seed: int, number: int) -> list[int]:
    """The wall of a series' ``number``-th deal (from 0), the same on every machine."""
    wall = np.zeros(TILES, np.int8)
    shuffle(seed, number, wall)
    return [int(kind) for kind in wall]


class TwoPlayerGame:
    """One game, with everything that happened in it.

    Args:
        wall: 64 kinds: 13 for player 0, 13 for player 1, then the tiles to draw; a kan draws from the end.

    Raises:
        ValueError: the wall is not four tiles of each of the 16 kinds.

    >>> game = TwoPlayerGame(seeded_wall(0, 0))
    >>> game.play(PASS)
    >>> game.hand(0)[:3], game.player, game.round
    ([1, 2, 3], 0, 1)
    """

    def __init__(self, wall: Sequence[int]) -> None:
        if sorted(wall) != sorted([*DECK] * 4):
            raise ValueError("not the wall of a two-player game: expected four tiles of each of the 16 kinds")
        self.wall: NDArray[np.int8] = np.array(wall, np.int8)
        self._positions = np.zeros(1, POSITION)
        deal(self._positions[0], self.wall)
        self.actions: list[int] = []

    @property
    def position(self) -> np.void:
        """A copy of the current position, a record of `layout.POSITION`."""
        copied: np.void = self._positions[-1:].copy()[0]
        return copied

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._positions[-1]["phase"] == OVER)

    @property
    def player(self) -> int:
        """The player to act."""
        return int(self._positions[-1]["player"])

    @property
    def round(self) -> int:
        """Tiles drawn so far."""
        return round_of(self._positions[-1])

    def legal(self) -> tuple[int, ...]:
        """The legal actions, ascending; none once the game is over."""
        legal = np.zeros(ACTIONS, np.bool_)
        legal_actions(self._positions[-1], legal)
        return tuple(int(action) for action in np.flatnonzero(legal))

    def play(self, action: int) -> None:
        """Carry out an action of the player to act.

        Raises:
            IllegalActionError: it is not legal now.
        """
        if action not in (legal := self.legal()):
            said = action_text(action) if 0 <= action < ACTIONS else f"action {action}"
            allowed = ", ".join(action_text(each) for each in legal) or "nothing: the game is over"
            raise IllegalActionError(f"{said} is illegal for player {self.player}; legal: {allowed}")
        position = self._positions[-1:].copy()
        apply(position[0], self.wall, action)
        self._positions = np.concatenate([self._positions, position])
        self.actions.append(action)

    def rivers(self) -> tuple[list[int], list[int]]:
        """The discards in front of each player, in order; called and won tiles are gone."""
        rivers: tuple[list[int], list[int]] = ([], [])
        for position, action in zip(self._positions, self.actions, strict=False):
            player = int(position["player"])
            if action >= DISCARD_OF:
                rivers[player].append(action - DISCARD_OF)
            elif position["phase"] == CLAIM and action != PASS:
                rivers[1 - player].pop()
        return rivers

    def hand(self, player: int) -> list[int]:
        """A player's concealed tiles, ascending; the drawn tile is among them."""
        return hand_kinds(self._positions[-1]["hands"][player])


def hand_kinds(hand34: NDArray[np.int8]) -> list[int]:
    """Kinds of a hand's tiles, ascending.

    Args:
        hand34: ``[34]`` int8.
    """
    return [kind for kind in range(KINDS) for _ in range(int(hand34[kind]))]
