"""A two-player game played by actions as text, which refuses illegal ones and remembers its positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from game.tiles import KINDS, kind_text
from game.two_player.layout import (
    ACTIONS,
    ANKAN,
    CHI,
    CLAIM,
    DECK,
    DISCARD_OF,
    OVER,
    PASS,
    POSITION,
    TILES,
    shuffle,
)
from game.two_player.rules import apply, deal, legal_actions, round_of

MELD_NAMES = ("chi", "pon", "ankan", "daiminkan", "kakan")
TEXTS = (
    *("pass", "win", "pon", "daiminkan"),
    *(f"chi {kind_text(low)}" for low in range(ANKAN - CHI)),
    *(f"{name} {kind_text(kind)}" for name in ("ankan", "kakan", "discard") for kind in range(KINDS)),
)
"""The actions by number."""


def seeded_wall(seed: int, number: int) -> list[int]:
    """The wall of a series' ``number``-th deal."""
    wall = np.zeros(TILES, np.int8)
    shuffle(seed, number, wall)
    return [int(kind) for kind in wall]


class TwoPlayerGame:
    """One game over a wall of 64 kinds, with everything that happened in it."""

    def __init__(self, wall: Sequence[int]) -> None:
        assert sorted(wall) == sorted([*DECK] * 4)
        self.wall = np.array(wall, np.int8)
        self._positions = np.zeros(1, POSITION)
        deal(self._positions[0], self.wall)
        self.actions: list[int] = []

    @property
    def position(self) -> np.void:
        """A copy of the current position."""
        return self._positions[-1:].copy()[0]

    @property
    def over(self) -> bool:
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

    def play(self, action: int | str) -> None:
        """Carry out an action of the player to act, by its number or text."""
        number = TEXTS.index(action) if isinstance(action, str) else action
        assert number in self.legal()
        position = self._positions[-1:].copy()
        apply(position[0], self.wall, number)
        self._positions = np.concatenate([self._positions, position])
        self.actions.append(number)

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
        hand34 = self._positions[-1]["hands"][player]
        return [kind for kind in range(KINDS) for _ in range(int(hand34[kind]))]
