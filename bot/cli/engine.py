"""`suzaku engine`: the bot for others' arenas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.options import ConfigFile, Device, LogFormat, LogLevel, Policy, load_settings, reported
from bot.cli.paths import existing_folder


@reported
def engine(
    seat: Annotated[
        int | None,
        typer.Option(
            help="Whose seat it is, 0 to 3, where start_game carries no id.", metavar="NUMBER", min=0, max=3
        ),
    ] = None,
    answers: Annotated[
        Literal["auto", "every", "asked"],
        typer.Option(
            help="What is answered: every line; only what asks something of the seat; auto: every line that "
            "is an array, and of single events what asks."
        ),
    ] = "auto",
    arrays: Annotated[
        bool, typer.Option("--arrays", help="Answer with arrays of actions, riichi and its discard in one.")
    ] = False,
    game_type: Annotated[
        str | None, typer.Option("--type", help="hanchan or tonpuu.", metavar="TYPE")
    ] = None,
    policy: Policy = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the models, if not as configured.", metavar="FOLDER", parser=existing_folder
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(help="Renamings to average over, 1, 6 or 12, if not as configured.", metavar="NUMBER"),
    ] = None,
    device: Device = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = "warning",
    log_format: LogFormat = None,
) -> int:
    """Play as an mjai engine on stdin and stdout.

    Only answers go to stdout. It runs until stdin ends; docs/engine.md says how arenas run it.
    """
    config = load_settings(
        config_file,
        {
            "play.server": "local",
            "local.url": "",
            "local.type": game_type,
            "decision.policy": policy,
            "decision.checkpoints": checkpoints,
            "decision.permutations": permutations,
            "decision.device": device,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.pipe import run_engine

    return run_engine(config, player=seat, answers=answers, arrays=arrays)
