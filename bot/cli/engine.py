"""`suzaku engine`: the bot as an engine in other programs' arenas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.options import (
    ConfigFile,
    Device,
    LogFormat,
    LogLevel,
    Permutations,
    Policy,
    load_settings,
    reported,
)
from bot.cli.paths import existing_folder


@reported
def engine(
    seat: Annotated[
        int | None,
        typer.Option(
            help="The bot's player number, 0 (first dealer) to 3, for a start_game message without an id.",
            metavar="NUMBER",
            min=0,
            max=3,
        ),
    ] = None,
    answers: Annotated[
        Literal["auto", "every", "asked"],
        typer.Option(
            help="Lines to answer. every: all lines; asked: lines that require a decision; auto: every "
            "array, and single events that require a decision."
        ),
    ] = "auto",
    arrays: Annotated[
        bool,
        typer.Option("--arrays", help="Answer with arrays of actions; riichi and its discard share one."),
    ] = False,
    meta: Annotated[
        bool,
        typer.Option(
            "--meta/--no-meta",
            help="Add probabilities, shanten and the legal actions to each answer, as meta, like Mortal.",
        ),
    ] = True,
    game_type: Annotated[
        str | None, typer.Option("--type", help="Game type: hanchan or tonpuu.", metavar="TYPE")
    ] = None,
    policy: Policy = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the models; default: the configured one.",
            metavar="FOLDER",
            parser=existing_folder,
        ),
    ] = None,
    permutations: Permutations = None,
    device: Device = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = "warning",
    log_format: LogFormat = None,
) -> int:
    """Play as an mjai engine on stdin and stdout.

    Only answers go to stdout. It runs until stdin ends; docs/engine.md describes how arenas run it.
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
    from bot.mjai.pipe import run_engine

    return run_engine(config, player=seat, answers=answers, arrays=arrays, meta=meta)
