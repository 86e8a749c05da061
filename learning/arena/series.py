"""Games that follow from a plan, in blocks of fixed content.

A block is what one process plays in one go. Which games are in it follows from the plan alone, so that a run
that goes on, on whatever number of processes, plays whole blocks again and counts no game twice.
"""

from __future__ import annotations

import hashlib
from typing import Final, Self

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
        """What tells these games from those of other plans; those of a longer plan are the same and more."""
        raise NotImplementedError

    @property
    def flags(self) -> dict[str, str]:
        """What was chosen, as the command line has it: the value of each flag, in words where it has none."""
        engines = [who.answer_s for who in self.contenders if who.answer_s is not None]
        return {
            "--seed": str(self.seed),
            "--tonpuu": "given" if self.length == "tonpuu" else "not given",
            "--tables": str(self.tables),
            "--answer-timeout": f"{engines[0]:g}" if engines else "not needed",
        }

    def continues(self, other: Self) -> bool:
        """Whether games of another plan are the first ones of this."""
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
