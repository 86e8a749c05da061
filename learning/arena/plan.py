"""What a comparison plays: duplicate sets, the same walls with the seats rotated, in blocks of fixed content.

A block is what one process plays in one go. Which games are in it follows from the plan alone, so that a run
that goes on, on whatever number of processes, plays whole blocks again and counts no game twice.
"""

from __future__ import annotations

import hashlib
from typing import Final, Literal, TypeAlias

import msgspec

from game.events import Four
from game.settlement import GameLength
from learning.arena.players import Contender
from policies.rollout import TABLES, Seating

FORMAT: Final = "suzaku-arena/1"

Mode: TypeAlias = Literal["1v3", "2v2"]

CHALLENGER: Final = 0
CHAMPION: Final = 1

SEATS: Final[dict[Mode, tuple[Four, ...]]] = {
    "1v3": ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)),
    "2v2": ((0, 1, 0, 1), (1, 0, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 1, 0)),
}
"""Who sits where in each game of a set: every way to seat the two sides, once."""

_BLOCK_GAMES: Final = 64
"""Games in a block, unless more are played side by side: few enough to share out, enough for full batches."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything the games of a comparison follow from.

    Attributes:
        challenger: the player compared.
        champions: the player he is compared with.
        sets: duplicate sets.
        seed: every wall follows from it.
        mode: one against three, or two against two.
        length: of the games.
        tables: played side by side.
        format: of the results.
    """

    challenger: Contender
    champions: Contender
    sets: int
    seed: int = 0
    mode: Mode = "1v3"
    length: GameLength = "hanchan"
    tables: int = TABLES
    format: str = FORMAT

    @property
    def set_games(self) -> int:
        """Games in a set."""
        return len(SEATS[self.mode])

    @property
    def games(self) -> int:
        """Games in all."""
        return self.sets * self.set_games

    @property
    def block_sets(self) -> int:
        """Sets in a block."""
        return max(_BLOCK_GAMES, self.tables) // self.set_games

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.sets // self.block_sets)

    def numbers(self, block: int) -> range:
        """The numbers of a block's games."""
        size = self.block_sets * self.set_games
        return range(block * size, min((block + 1) * size, self.games))

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and who sits where."""
        of_set, rotation = divmod(number, self.set_games)
        return Seating(number, set_seed(self.seed, of_set), SEATS[self.mode][rotation])


def sets_for(games: int, mode: Mode) -> int:
    """The sets that make up at least so many games.

    >>> sets_for(400, "1v3"), sets_for(401, "1v3"), sets_for(12, "2v2")
    (100, 101, 2)
    """
    return -(-games // len(SEATS[mode]))


def set_seed(seed: int, of_set: int) -> int:
    """The seed of all walls of a set."""
    digest = hashlib.blake2b(f"arena {seed} {of_set}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
