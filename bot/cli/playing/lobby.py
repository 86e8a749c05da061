"""`suzaku lobby`: the built-in lobby alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.command import command
from bot.cli.shared import LOGS, RECORDS, DryRun

if TYPE_CHECKING:
    from bot.config.settings import Config


@command(
    {
        "port": "local.port",
        "clients_per_table": "local.clients_per_table",
        "seed": "play.seed",
        **LOGS,
        **RECORDS,
    },
    fixed={"play.server": "local", "local.url": ""},
)
def lobby(config: Config, *, dry_run: DryRun = False) -> int:
    """Run only the built-in lobby.

    It runs until Ctrl-C. Use `suzaku play --url` to join it.
    """
    from bot.play.lobby import run_lobby

    return run_lobby(config, dry_run=dry_run)
