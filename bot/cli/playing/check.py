"""`suzaku check`: whether everything is ready to play."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bot.cli.command import command
from bot.cli.shared import LOGS, AsJson

if TYPE_CHECKING:
    from bot.config.settings import Config


@command({"device": "decision.device", **LOGS})
def check(config: Config, *, as_json: AsJson = False) -> int:
    """Check that everything is ready to play.

    Validates the configuration, loads and warms up everything, and prints what it found.
    """
    from bot.check import check_everything

    return check_everything(config, os.environ, as_json=as_json)
