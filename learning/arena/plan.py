"""What a comparison plays: duplicate sets, the same walls with the seats rotated."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from game.events import Four
from learning.arena.players import Contender
from learning.arena.series import Series, wall_seed
from policies.rollout import Seating

FORMAT: Final = "suzaku-arena/1"

Mode: TypeAlias = Literal["1v3", "2v2"]

CHALLENGER: Final = 0
CHAMPION: Final = 1

SEATS: Final[dict[Mode, tuple[Four, ...]]] = {
    "1v3": ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)),
    "2v2": ((0, 1, 0, 1), (1, 0, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 1, 0)),
}
"""Who sits where in each game of a set: every way to seat the two sides, once."""


class Plan(Series, frozen=True, kw_only=True):
    """Everything the games of a comparison follow from.

    Attributes:
        challenger: the player compared.
        champions: the player he is compared with.
        sets: duplicate sets.
        mode: one against three, or two against two.
        format: of the results.
    """

    challenger: Contender
    champions: Contender
    sets: int
    mode: Mode = "1v3"
    format: str = FORMAT

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """The challenger and the champions."""
        return self.challenger, self.champions

    @property
    def set_games(self) -> int:
        """Games in a set."""
        return len(SEATS[self.mode])

    @property
    def together(self) -> int:
        """A set is played by one process."""
        return self.set_games

    @property
    def games(self) -> int:
        """Games in all."""
        return self.sets * self.set_games

    @property
    def identity(self) -> str:
        """What tells these games from those of other plans."""
        return f"{self.seed} {self.challenger.identity} {self.champions.identity} {self.mode} {self.length}"

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and who sits where."""
        of_set, rotation = divmod(number, self.set_games)
        return Seating(number, wall_seed("arena", self.seed, of_set), SEATS[self.mode][rotation])


def sets_for(games: int, mode: Mode) -> int:
    """The sets that make up at least so many games.

    >>> sets_for(400, "1v3"), sets_for(401, "1v3"), sets_for(12, "2v2")
    (100, 101, 2)
    """
    return -(-games // len(SEATS[mode]))
