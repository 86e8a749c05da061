"""Commands that play."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from bot.cli.options import (
    AsJson,
    ConfigFile,
    DashboardHost,
    DashboardPort,
    DashboardTokenEnv,
    Device,
    DryRun,
    LogFormat,
    LogLevel,
    Out,
    Policy,
    RecordsFolder,
    Seed,
    load_settings,
    reported,
)
from bot.cli.paths import output_file

STARTED: Final = time.monotonic()


ServerName: TypeAlias = Annotated[
    str | None, typer.Option(help="Server to play on: local or tenhou.", metavar="SERVER")
]
LobbyAddress: TypeAlias = Annotated[
    str | None, typer.Option(help="Address of a running `suzaku lobby`.", metavar="ADDRESS")
]
LobbyNumber: TypeAlias = Annotated[
    str | None, typer.Option(help='Lobby to join: 0, 1000-9999 or "C12345678".', metavar="LOBBY")
]
BotName: TypeAlias = Annotated[
    str | None, typer.Option(help="Name of the bot in a local lobby.", metavar="NAME")
]
GameTypeName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--type",
        help="Game type: hanchan, tonpuu, fast, practice, a room, or a number.",
        metavar="TYPE",
    ),
]
NumberOfGames: TypeAlias = Annotated[
    int | None, typer.Option(help="Number of games to play.", metavar="NUMBER")
]
PaceName: TypeAlias = Annotated[
    str | None, typer.Option(help="Speed of answers: auto, instant or human.", metavar="PACE")
]
Adaptation: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Use of a round's time: off, adapt (the policy, to the hand), search (close options) or both.",
        metavar="MODE",
    ),
]
CaptureFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Write all frames sent and received to this file, redacted.",
        metavar="FILE",
        parser=output_file,
    ),
]
WithDashboard: TypeAlias = Annotated[
    bool | None,
    typer.Option("--dashboard/--no-dashboard", help="Show the game on a web page."),
]


@reported
def play(
    server: ServerName = None,
    url: LobbyAddress = None,
    lobby: LobbyNumber = None,
    name: BotName = None,
    game_type: GameTypeName = None,
    games: NumberOfGames = None,
    pace: PaceName = None,
    device: Device = None,
    adaptation: Adaptation = None,
    seed: Seed = None,
    policy: Policy = None,
    as_json: AsJson = False,
    capture: CaptureFile = None,
    dashboard: WithDashboard = None,
    dashboard_host: DashboardHost = None,
    dashboard_port: DashboardPort = None,
    dashboard_token_env: DashboardTokenEnv = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
    out: Out = None,
    dry_run: DryRun = False,
) -> int:
    """Play games in the built-in lobby, or on another server."""
    config = load_settings(
        config_file,
        {
            "play.server": server,
            "local.url": url,
            "server.lobby": lobby,
            "local.name": name,
            "server.type": game_type,
            "play.games": games,
            "play.pace": pace,
            "decision.device": device,
            "adaptation.mode": adaptation,
            "play.seed": seed,
            "decision.policy": policy,
            "records.capture": capture,
            "records.folder": out,
            "dashboard.enabled": dashboard,
            "dashboard.host": dashboard_host,
            "dashboard.port": dashboard_port,
            "dashboard.token_env": dashboard_token_env,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.play.run import play_games

    return play_games(config, os.environ, as_json=as_json, dry_run=dry_run, started=STARTED)


@reported
def lobby(
    port: Annotated[
        int | None,
        typer.Option(help="Port to listen on, on this machine only; 0 picks a free one.", metavar="PORT"),
    ] = None,
    clients_per_table: Annotated[
        int | None,
        typer.Option(
            help="Clients needed to start a table, 1 to 4; built-in players fill the other seats.",
            metavar="NUMBER",
        ),
    ] = None,
    seed: Seed = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
    out: Out = None,
    dry_run: DryRun = False,
) -> int:
    """Run only the built-in lobby.

    It runs until Ctrl-C. Use `suzaku play --url` to join it.
    """
    config = load_settings(
        config_file,
        {
            "play.server": "local",
            "play.seed": seed,
            "local.url": "",
            "local.port": port,
            "local.clients_per_table": clients_per_table,
            "records.folder": out,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.play.lobby import run_lobby

    return run_lobby(config, dry_run=dry_run)


@reported
def dashboard(
    folder: RecordsFolder = None,
    host: DashboardHost = None,
    port: DashboardPort = None,
    token_env: DashboardTokenEnv = None,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> int:
    """Show past games on a web page.

    It runs until Ctrl-C. `suzaku play --dashboard` also shows the running game.
    """
    config = load_settings(
        config_file,
        {
            "records.folder": folder,
            "dashboard.host": host,
            "dashboard.port": port,
            "dashboard.token_env": token_env,
            "logs.level": log_level,
            "logs.format": log_format,
        },
    )
    from bot.dashboard.command import show_past

    return show_past(config, os.environ)


@reported
def check(
    device: Device = None,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> int:
    """Check that everything is ready to play.

    Validates the configuration, loads and warms up everything, and prints what it found.
    """
    config = load_settings(
        config_file, {"decision.device": device, "logs.level": log_level, "logs.format": log_format}
    )
    from bot.check import check_everything

    return check_everything(config, os.environ, as_json=as_json)
