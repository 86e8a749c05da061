"""Games that follow from a plan, in blocks of fixed content.

A block is what one process plays in one go. Which games are in it follows from the plan alone, so that a run
that goes on, on whatever number of processes, plays whole blocks again and counts no game twice.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from game.settlement import GameLength
from learning.arena.players import Contender
from policies.rollout import TABLES, Seating

BLOCK_GAMES: Final = 64
"""Games in a block, unless more are played side by side: few enough to share out, enough for full batches."""


class Series(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is played, whatever for; those who play for something add to it.

    Attributes:
        seed: every wall follows from it.
        length: of the games.
        tables: played side by side.
    """

    seed: int = 0
    length: GameLength = "hanchan"
    tables: int = TABLES

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """Who plays; seatings name them by their place here."""
        raise NotImplementedError

    @property
    def games(self) -> int:
        """Games in all."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """What tells these games from those of other plans."""
        raise NotImplementedError

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and who sits where."""
        raise NotImplementedError

    @property
    def together(self) -> int:
        """Games that belong in one block."""
        return 1

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.games // self._block_games)

    def numbers(self, block: int) -> range:
        """The numbers of a block's games."""
        size = self._block_games
        return range(block * size, min((block + 1) * size, self.games))

    @property
    def _block_games(self) -> int:
        return max(BLOCK_GAMES, self.tables) // self.together * self.together


def wall_seed(purpose: str, seed: int, number: int) -> int:
    """The seed of all walls of a game, or of games that share them."""
    digest = hashlib.blake2b(f"{purpose} {seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
