"""The plan of a table: its game, its clock and its players; and the programs among them, which are loaded."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
import structlog
from msgspec import Meta

from bot.logs.redaction import clean_text
from bot.tenhou.game_types import AGAINST_PEOPLE, FAST, HANCHAN, GameType
from bot.tenhou.lobby.table_seat import ClockSettings, clock_of
from game.scoring.settlement import GameLength
from kit.errors import BotError
from kit.options import INTERNAL, Seed, flag
from policies.play.rollout import Chooser

ClockName: TypeAlias = Literal["5+10", "3+5", "none"]
"""Seconds for each decision and the time bank of a round, as on Tenhou."""

LevelName: TypeAlias = Literal["beginner", "rules", "people", "network", "search"]

LEVELS: Final[dict[LevelName, str]] = {
    "beginner": "beginner",
    "rules": "heuristic",
    "people": "phoenix",
    "network": "network",
    "search": "network+search=35+from_go_around=6",
}
"""The player in the other seats at each level, weakest first."""

PERSON: Final = "person"
"""Stands for a person among the opponents."""

RESULT_S: Final = 30.0
"""Time to look at the result of a round."""

log = structlog.get_logger(__name__)


class TablePlan(msgspec.Struct, frozen=True):
    """The games of a table.

    Attributes:
        length: hanchan or tonpuu.
        clock: seconds for each decision, plus a time bank for each round; none: no limit. When the time is
            up, the tile just drawn is discarded, and calls are passed.
        delay_s: pause in seconds before each move of a program.
        seed: seed of all seats and walls; default: unpredictable games.
        practice: allow taking moves back, without other persons and engines; marks the records as practice.
    """

    length: Annotated[GameLength, INTERNAL] = "hanchan"
    clock: ClockName = "5+10"
    delay_s: Annotated[float, Meta(ge=0.0, le=10.0), flag("--delay")] = 0.6
    seed: Seed | None = None
    practice: bool = False

    @property
    def game_type(self) -> GameType:
        """The type of the games, as in their records."""
        long = HANCHAN if self.length == "hanchan" else 0
        people = 0 if self.practice else AGAINST_PEOPLE
        return GameType(people | long | (FAST if self.clock == "3+5" else 0))

    @property
    def clock_settings(self) -> ClockSettings:
        """The time limits."""
        if self.clock == "none":
            return ClockSettings(base_s=math.inf, bank_s=0.0, popup_s=math.inf)
        return msgspec.structs.replace(clock_of(self.game_type), popup_s=RESULT_S)


class TableSetup(msgspec.Struct, frozen=True):
    """A table and who sits there.

    Attributes:
        plan: what is played.
        name: of the user of this machine.
        opponents: the other players, as on the command line.
    """

    plan: TablePlan
    name: str
    opponents: Annotated[tuple[str, ...], Meta(min_length=3, max_length=3)]

    @property
    def people(self) -> list[str]:
        """The names of all persons, that of this machine's user first."""
        return [self.name, *(name for text in self.opponents if (name := person_in(text)) is not None)]

    @property
    def programs(self) -> list[str]:
        """The opponents that are programs."""
        return [text for text in self.opponents if person_in(text) is None]

    @property
    def level(self) -> LevelName | None:
        """The level of the programs; None if they were chosen otherwise."""
        return next((name for name, text in LEVELS.items() if {text} == set(self.programs)), None)

    def at_level(self, level: LevelName) -> TableSetup:
        """The same table with programs of another level."""
        others = (text if person_in(text) is not None else LEVELS[level] for text in self.opponents)
        return msgspec.structs.replace(self, opponents=tuple(others))


def person_in(text: str) -> str | None:
    """The name of a person among the opponents; None for a program.

    >>> person_in("person"), person_in("Ben=person"), person_in("network")
    ('Guest', 'Ben', None)
    """
    given, equals, kind = text.rpartition("=")
    if kind != PERSON:
        return None
    return given if equals else "Guest"


class TableBot(msgspec.Struct, frozen=True):
    """A seat that a program plays.

    Attributes:
        name: its name in the record.
        player: what plays under that name.
        chooser: decides; the same for all seats of one player.
    """

    name: str
    player: str
    chooser: Chooser

    @property
    def level(self) -> LevelName | None:
        """The level of which it is the player."""
        return next((name for name, text in LEVELS.items() if text == self.player), None)


class Opponents:
    """The programs at a table.

    Args:
        setup: the table.
        load: loads programs, given as on the command line.

    Attributes:
        setup: the table with the present programs.
        bots: the present programs.
        loading: the level that is being loaded.

    Raises:
        ConfigError: a program cannot be loaded.
    """

    def __init__(self, setup: TableSetup, load: Callable[[Sequence[str]], Sequence[TableBot]]) -> None:
        self.setup = setup
        self.bots = load(setup.programs)
        self.loading: LevelName | None = None
        self._load = load
        self._failed = False

    def choose(self, level: LevelName) -> bool:
        """Note the level wanted for the next game; return whether `load` must be called for it."""
        idle, self.loading = self.loading is None, level
        return idle

    async def load(self) -> None:
        """Replace the programs by those of the level noted last; if they cannot be loaded, they stay."""
        loaded = None
        try:
            while self.loading not in (None, loaded):
                loaded = self.loading
                await self._replace(loaded)
        finally:
            self.loading = None

    async def _replace(self, level: LevelName) -> None:
        setup, self._failed = self.setup.at_level(level), False
        try:
            self.bots = await asyncio.to_thread(self._load, setup.programs)
            self.setup = setup
        except BotError as exc:
            self._failed = True
            log.warning("level.failed", level=level, reason=clean_text(str(exc)))

    def facts(self) -> dict[str, Any]:
        """The level, and the others to choose from; none without a level."""
        level = self.setup.level
        return {
            "level": level,
            "levels": list(LEVELS) if level else [],
            "loading": self.loading,
            "level_failed": self._failed,
        }
