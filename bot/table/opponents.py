"""The programs at a table: loaded at the start, and again when a person chooses another level."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from bot.logs.redaction import clean_text
from bot.table.plan import LEVELS, LevelName, TableBot, TableSetup
from kit.errors import BotError

log = structlog.get_logger(__name__)


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
        """The level, and the others to choose from with what plays them; none without a level."""
        level = self.setup.level
        return {
            "level": level,
            "levels": LEVELS if level else {},
            "loading": self.loading,
            "level_failed": self._failed,
        }
