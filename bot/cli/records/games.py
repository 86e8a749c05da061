"""`suzaku games`: the saved games."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.command import command
from bot.cli.shared import SAVED_GAMES, AsJson

if TYPE_CHECKING:
    import replays.store.index
    from bot.config.settings import Config


@command(SAVED_GAMES)
def games(config: Config, choice: replays.store.index.GameChoice, *, as_json: AsJson = False) -> int:
    """List the saved games.

    Shows the date, place, points, type, rounds, id and opponents of each game. The place is the bot's if its
    decisions are saved with the record, else that of `--player`.
    """
    from bot.records.games import list_games

    return list_games(config.records.folder, choice, as_json=as_json)
