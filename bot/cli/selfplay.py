"""The command that plays training games."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from bot.cli.options import (
    AnswerTimeout,
    AsJson,
    DashboardHost,
    DashboardPort,
    DashboardTokenEnv,
    NetworkDevice,
    PlayPrecision,
    Ray,
    Tonpuu,
    WallSeed,
    Workers,
    check_ray,
    load_settings,
    reported,
)
from bot.cli.paths import output_folder

if TYPE_CHECKING:
    from replays.standing import SeriesStanding


NumberOfGames: TypeAlias = Annotated[int, typer.Option(help="Number of games.", metavar="NUMBER", min=1)]
RunFolder: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--out",
        help="Folder for results and records. A stopped run resumes there; a finished run continues if "
        "--games is larger.",
        metavar="FOLDER",
        parser=output_folder,
    ),
]
Players: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="One player for all seats, or four separated by commas, each as for `suzaku arena`; "
        "default: the included networks. If an engine's command contains commas, repeat --players for "
        "each player instead.",
        metavar="PLAYER,…",
    ),
]
RecordFormat: TypeAlias = Annotated[
    Literal["mjlog", "mjai"],
    typer.Option("--format", help="Format of the records.", metavar="mjlog|mjai"),
]
WithDashboard: TypeAlias = Annotated[
    bool, typer.Option("--dashboard", help="Show the progress on a web page.")
]


@reported
def selfplay(
    games: NumberOfGames,
    out: RunFolder,
    players: Players = None,
    seed: WallSeed = 0,
    tonpuu: Tonpuu = False,
    form: RecordFormat = "mjlog",
    answer_timeout: AnswerTimeout = 10.0,
    workers: Workers = None,
    ray: Ray = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    as_json: AsJson = False,
    dashboard: WithDashboard = False,
    dashboard_host: DashboardHost = None,
    dashboard_port: DashboardPort = None,
    dashboard_token_env: DashboardTokenEnv = None,
) -> int:
    """Play training games and save their records.

    Every game has its own walls, and the seating rotates through every order. `suzaku corpus build` reads the
    records.
    """
    check_ray(ray)
    from bot.logs.setup import set_up_logs
    from bot.startup.warm import warm_up_visibly
    from learning import selfplay as playing

    set_up_logs()
    with contextlib.ExitStack() as stack:
        on_standing: playing.OnStanding = playing.unobserved
        if dashboard:
            shown = {"host": dashboard_host, "port": dashboard_port, "token_env": dashboard_token_env}
            on_standing = stack.enter_context(_dashboard(out, form, shown))
        return playing.selfplay(
            players or ["network"],
            out,
            games=games,
            seed=seed,
            length="tonpuu" if tonpuu else "hanchan",
            form=form,
            answer_timeout_s=answer_timeout,
            workers=workers,
            ray=ray,
            device=device,
            precision=precision,
            as_json=as_json,
            prepare=warm_up_visibly,
            on_standing=on_standing,
        )


@contextlib.contextmanager
def _dashboard(out: Path, form: str, shown: dict[str, Any]) -> Iterator[Callable[[SeriesStanding], None]]:
    """Open the dashboard; yields the function that reports the run's progress to it."""
    import os

    from bot.dashboard.feed import Feed, Reached
    from bot.dashboard.pump import About
    from bot.dashboard.server import open_dashboard
    from game.distribution import program_name
    from learning.matches.records import RECORDS_FOLDER

    flags = {f"dashboard.{name}": value for name, value in shown.items()}
    config = load_settings(None, flags | {"records.folder": str(out / RECORDS_FOLDER)})
    feed = Feed()
    with open_dashboard(
        config, os.environ, About(program=program_name(), has_past=form == "mjlog", shows="series"), feed
    ):
        yield lambda standing: feed.put(Reached(standing))
