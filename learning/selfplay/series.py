"""Series of games determined by a plan, in blocks of fixed content.

A process plays one or more blocks at a time. A block's games follow from the plan alone. A resumed run, on
any number of processes, therefore plays the games that are missing and counts none twice.
"""

from __future__ import annotations

from typing import Annotated, Final

from game.scoring.settlement import GameLength
from kit.options import INTERNAL, Seed, switch
from learning.runs.store import ResumablePlan
from learning.selfplay.players import Contender
from policies.nets.compute import IN_PLAY, Compute
from policies.play.rollout import TABLES, Seating

BLOCK_GAMES: Final = 64
"""Games in a block: few enough to share out."""


class Series(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all plans; each purpose adds its own fields.

    Attributes:
        seed: seed of all walls.
        length: length of the games.
        tables: tables played at a time.
        compute: how networks compute.
    """

    seed: Seed = 0
    length: Annotated[GameLength, switch("--tonpuu", "tonpuu", "Play tonpuusen instead of hanchan.")] = (
        "hanchan"
    )
    tables: Annotated[int, INTERNAL] = TABLES
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
        """The options that give this plan, as text."""
        engines = [who.answer_s for who in self.contenders if who.answer_s is not None]
        return super().flags | {
            "--tables": str(self.tables),
            "--answer-timeout": f"{engines[0]:g}" if engines else "not needed",
        }

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
