"""Walls: 136 tiles in deal order, and the position of each tile.

Tiles 0–51 are dealt 4-4-4-1 from the dealer on, 52–121 are drawn. The last 14 are the dead wall, from the
end: four replacement tiles (135, 134, 133, 132), then the indicators (131, 129, 127, 125, 123), with the ura
indicator of each one position before it. Each replacement tile taken leaves one tile less to draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from game.events import four
from game.tiles import TILES, UNSEEN

Hands: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]

DEAD_TILES: Final = 14

_LIVE_END: Final = TILES - DEAD_TILES


def random_wall(rng: np.random.Generator) -> list[int]:
    """A shuffled wall in deal order."""
    return [int(tile) for tile in rng.permutation(TILES)]


def wall_seed(purpose: str, seed: int, number: int) -> int:
    """The seed of all walls of a game, or of games that share them."""
    digest = hashlib.blake2b(f"{purpose} {seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def round_wall(seed: int, number: int) -> list[int]:
    """The wall of a game's ``number``-th round (from 0), the same on every machine."""
    sequence = np.random.SeedSequence([seed, number])
    return random_wall(np.random.Generator(np.random.PCG64(sequence)))


def dealt_places(player: int, dealer: int) -> list[int]:
    """The positions of the 13 tiles dealt to a player, in the order they are taken."""
    wind = (player - dealer) % 4
    return [*(16 * turn + 4 * wind + i for turn in range(3) for i in range(4)), 48 + wind]


def dealt_hands(wall: Sequence[int], dealer: int) -> Hands:
    """The four hands of 13 tiles by absolute player, each ascending."""
    return four(tuple(sorted(wall[place] for place in dealt_places(player, dealer))) for player in range(4))


def with_hands(wall: Sequence[int], hands: Sequence[Sequence[int]], dealer: int) -> list[int]:
    """The wall from which these hands are dealt, the inverse of `dealt_hands`.

    Args:
        wall: in deal order; its first 52 tiles are replaced.
        hands: 13 tiles each, by absolute player.
        dealer: absolute.

    Raises:
        ValueError: a hand does not have 13 tiles.
    """
    dealt = list(wall)
    for player, hand in enumerate(hands):
        for place, tile in zip(dealt_places(player, dealer), hand, strict=True):
            dealt[place] = tile
    return dealt


def next_place(left: int, kans: int) -> int:
    """Position of the next tile to draw, ``left`` being the number of tiles that can still be drawn."""
    return _LIVE_END - left - kans


def replacement_place(number: int) -> int:
    """Position of the replacement tile of the ``number``-th kan (from 1)."""
    return TILES - number


def indicator_place(number: int) -> int:
    """Position of the ``number``-th indicator (from 0); its ura indicator is one position before."""
    return TILES - 5 - 2 * number


def hidden_places(left: int, kans: int, shown: int) -> list[int]:
    """The positions of all unseen tiles, ascending: ``left + 14 - shown`` of them."""
    indicators = {indicator_place(number) for number in range(shown)}
    places = range(next_place(left, kans), TILES - kans)
    return [place for place in places if place not in indicators]


def rebuilt_wall(hidden: Sequence[int], indicators: Sequence[int], left: int, kans: int) -> list[int]:
    """A wall with its hidden tiles in place, for a round in progress; tiles already drawn are ``UNSEEN``.

    Args:
        hidden: the tiles no player has seen, in deal order.
        indicators: the revealed ones.
        left: number of tiles that can still be drawn.
        kans: number of replacement tiles taken.

    Raises:
        ValueError: ``hidden`` has the wrong length.
    """
    wall = [UNSEEN] * TILES
    for place, tile in zip(hidden_places(left, kans, len(indicators)), hidden, strict=True):
        wall[place] = tile
    for number, tile in enumerate(indicators):
        wall[indicator_place(number)] = tile
    return wall
