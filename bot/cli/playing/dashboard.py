"""`suzaku dashboard`: past games on a web page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bot.cli.command import command
from bot.cli.shared import LOGS, SAVED_GAMES

if TYPE_CHECKING:
    from bot.config.settings import Config


@command(
    {
        **SAVED_GAMES,
        "host": "dashboard.host",
        "port": "dashboard.port",
        "token_env": "dashboard.token_env",
        **LOGS,
    }
)
def dashboard(config: Config) -> int:
    """Show past games on a web page.

    It runs until Ctrl-C. `suzaku play --dashboard` also shows the running game.
    """
    from bot.dashboard.server import show_past

    return show_past(config, os.environ)
