"""The plan of a comparison: the seats rotated over the same walls (duplicate sets), or over new ones."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec

from game.events import Four
from game.ranking import Uma, parse_uma
from game.table.walls import wall_seed
from kit.options import INTERNAL, switch
from learning.selfplay.players import Contender, contender, tables_for
from learning.selfplay.series import Series
from policies.play.rollout import Seating

FORMAT: Final = "suzaku-arena/2"

Mode: TypeAlias = Literal["1v3", "2v2"]
UmaOption: TypeAlias = Annotated[Uma | None, parse_uma]

CHALLENGER: Final = 0
CHAMPION: Final = 1
EQUAL: Final = 2.5
"""Average placement of players of the same strength."""

SEATS: Final[dict[Mode, tuple[Four, ...]]] = {
    "1v3": ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)),
    "2v2": ((0, 1, 0, 1), (1, 0, 1, 0), (0, 0, 1, 1), (1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 1, 0)),
}
"""Seating in each game of a set: every way to seat the two sides, once."""


class ArenaPlan(Series, frozen=True, kw_only=True):
    """Everything that determines the games of a comparison.

    Attributes:
        challenger: the player under test.
        champions: the player it is compared with.
        sets: duplicate sets; single games if each has walls of its own.
        mode: one against three, or two against two.
        independent: deal new walls for every game; use it for a player against itself.
        format: format of the results.
    """

    counted: ClassVar[str] = "sets"

    challenger: Annotated[Contender, INTERNAL]
    champions: Annotated[Contender, INTERNAL]
    sets: Annotated[int, INTERNAL]
    mode: Annotated[Mode, switch("--two", "2v2", "Play two against two instead of one against three.")] = (
        "1v3"
    )
    independent: bool = False
    format: Annotated[str, INTERNAL] = FORMAT

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """The challenger and the champions."""
        return self.challenger, self.champions

    @property
    def set_games(self) -> int:
        """Games that share their walls, and are resampled together."""
        return 1 if self.independent else len(SEATS[self.mode])

    @property
    def together(self) -> int:
        """Games that one process must play: a set."""
        return self.set_games

    @property
    def games(self) -> int:
        """Total number of games."""
        return self.sets * self.set_games

    @property
    def identity(self) -> str:
        """Distinguishes these games from those of other plans."""
        text = f"{self.seed} {self.challenger.identity} {self.champions.identity} {self.mode} {self.length}"
        return f"{text} independent" if self.independent else text

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        players = {"--challenger": self.challenger.flag, "--champion": self.champions.flag}
        return players | {"--games": str(self.games)} | super().flags

    @property
    def caution(self) -> str:
        """A caution about the result, "" for none."""
        if not self.challenger.plays_as(self.champions) or self.independent:
            return ""
        return (
            "both sides are the same player: if it is deterministic, all games over the same walls are the "
            "same game and its 2.5 means nothing; --independent gives each game walls of its own"
        )

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and its seating."""
        seats = SEATS[self.mode]
        walls = wall_seed("arena", self.seed, number // self.set_games)
        return Seating(number, walls, seats[number % len(seats)])


def sets_for(games: int, mode: Mode, *, independent: bool = False) -> int:
    """Number of sets for at least this many games, with every player in every seat equally often.

    >>> sets_for(400, "1v3"), sets_for(401, "1v3"), sets_for(12, "2v2")
    (100, 101, 2)
    >>> sets_for(401, "1v3", independent=True)
    404
    """
    rotations = -(-games // len(SEATS[mode]))
    return rotations * len(SEATS[mode]) if independent else rotations


def make_plan(
    challenger: str, champions: str, *, games: int, tables: int | None, answer_timeout_s: float, **given: Any
) -> ArenaPlan:
    """The games of a comparison, both players loaded.

    Args:
        challenger: as for `learning.selfplay.players.contender`.
        champions: the player in the other seats.
        games: minimum number of games.
        tables: tables played at a time in each process; depends on the players if None.
        answer_timeout_s: for each answer of an external engine.
        given: other fields of the plan.

    Raises:
        ConfigError: a player is not valid.
        CheckpointError: a player's checkpoints cannot be used.
    """
    one, other = (contender(text, answer_timeout_s) for text in (challenger, champions))
    plan = ArenaPlan(
        challenger=one, champions=other, sets=0, tables=tables or tables_for(one, other), **given
    )
    return msgspec.structs.replace(plan, sets=sets_for(games, plan.mode, independent=plan.independent))
