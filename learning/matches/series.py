"""Series of games determined by a plan, in blocks of fixed content.

A process plays one or more blocks at a time. A block's games follow from the plan alone. A resumed run, on
any number of processes, therefore plays the games that are missing and counts none twice.
"""

from __future__ import annotations

import hashlib
from typing import Final, Self

import msgspec

from game.settlement import GameLength
from learning.matches.players import Contender
from policies.compute import IN_PLAY, Compute
from policies.rollout import TABLES, Seating

BLOCK_GAMES: Final = 64
"""Games in a block: few enough to share out."""


class Series(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all plans; each purpose adds its own fields.

    Attributes:
        seed: determines every wall.
        length: length of the games.
        tables: tables played at a time.
        compute: how networks compute.
    """

    seed: int = 0
    length: GameLength = "hanchan"
    tables: int = TABLES
    compute: Compute = IN_PLAY

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """The players; seatings refer to their places here."""
        raise NotImplementedError

    @property
    def games(self) -> int:
        """Total number of games."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """Distinguishes these games from those of other plans; a longer plan only adds games."""
        raise NotImplementedError

    @property
    def flags(self) -> dict[str, str]:
        """The plan as command-line flags: the value of each flag, or a phrase for flags without values."""
        engines = [who.answer_s for who in self.contenders if who.answer_s is not None]
        return {
            "--seed": str(self.seed),
            "--tonpuu": "given" if self.length == "tonpuu" else "not given",
            "--tables": str(self.tables),
            "--device": self.compute.device,
            "--precision": self.compute.precision,
            "--answer-timeout": f"{engines[0]:g}" if engines else "not needed",
        }

    def continues(self, other: Self) -> bool:
        """Whether the games of another plan are the first games of this one."""
        raise NotImplementedError

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and its seating."""
        raise NotImplementedError

    @property
    def together(self) -> int:
        """Number of games that belong in the same block."""
        return 1

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.games // self._block_games)

    def numbers(self, block: int) -> range:
        """The numbers of a block's games."""
        size = self._block_games
        return range(block * size, min((block + 1) * size, self.games))

    @property
    def _block_games(self) -> int:
        return BLOCK_GAMES // self.together * self.together


def wall_seed(purpose: str, seed: int, number: int) -> int:
    """The seed of all walls of a game, or of games that share them."""
    digest = hashlib.blake2b(f"{purpose} {seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
