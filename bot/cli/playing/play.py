"""`suzaku play`: games against the built-in lobby or another server."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from bot.cli.command import Setting, command
from bot.cli.shared import LOGS, RECORDS, AsJson, DryRun, OutputFile

if TYPE_CHECKING:
    from bot.config.settings import Config

STARTED: Final = time.monotonic()


@command(
    {
        "server": "play.server",
        "url": "local.url",
        "lobby": "server.lobby",
        "name": "local.name",
        "type": Setting("server.type", str),
        "games": "play.games",
        "pace": "play.pace",
        "device": "decision.device",
        "adaptation": "adaptation.mode",
        "seed": "play.seed",
        "policy": "decision.policy",
        "capture": Setting("records.capture", OutputFile),
        "dashboard": "dashboard.enabled",
        "dashboard_host": "dashboard.host",
        "dashboard_port": "dashboard.port",
        "dashboard_token_env": "dashboard.token_env",
        **LOGS,
        **RECORDS,
    }
)
def play(config: Config, *, as_json: AsJson = False, dry_run: DryRun = False) -> int:
    """Play games in the built-in lobby, or on another server."""
    from bot.play.run import play_games

    return play_games(config, os.environ, as_json=as_json, dry_run=dry_run, started=STARTED)
