"""The command that plays games to learn from."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot.cli.options import (
    LARGEST_SEED,
    AnswerTimeout,
    AsJson,
    DashboardHost,
    DashboardPort,
    DashboardTokenEnv,
    Ray,
    Workers,
    check_ray,
    load_settings,
    reported,
)
from bot.cli.paths import output_folder

if TYPE_CHECKING:
    from replays.standing import Standing


@reported
def selfplay(
    games: Annotated[int, typer.Option(help="How many.", metavar="NUMBER", min=1)],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder for results and records; a run that was stopped, or is to have more --games, "
            "goes on there.",
            metavar="FOLDER",
            parser=output_folder,
        ),
    ],
    players: Annotated[
        list[str] | None,
        typer.Option(
            help="One for all seats, or four with commas between them, each as `suzaku arena` takes it; the "
            "networks that come with the program if not given. An engine's command may hold commas: give "
            "--players again for each instead.",
            metavar="PLAYER,…",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Every wall follows from it.", metavar="NUMBER", min=0, max=LARGEST_SEED)
    ] = 0,
    tonpuu: Annotated[bool, typer.Option("--tonpuu", help="East games, not hanchan.")] = False,
    form: Annotated[
        Literal["mjlog", "mjai"], typer.Option("--format", help="Of the records.", metavar="mjlog|mjai")
    ] = "mjlog",
    answer_timeout: AnswerTimeout = 10.0,
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Show on a page in the browser how it goes.")
    ] = False,
    dashboard_host: DashboardHost = None,
    dashboard_port: DashboardPort = None,
    dashboard_token_env: DashboardTokenEnv = None,
) -> int:
    """Let players play, and keep the games to learn from.

    Each game has walls of its own, and the players sit in every order in turn. The records are what `suzaku
    corpus build` reads.
    """
    check_ray(ray)
    from bot.logs import set_up_logs
    from bot.warm import warm_up_visibly
    from learning import selfplay as playing

    set_up_logs()
    with contextlib.ExitStack() as stack:
        watch: playing.Watch = playing.unwatched
        if dashboard:
            shown = {"host": dashboard_host, "port": dashboard_port, "token_env": dashboard_token_env}
            watch = stack.enter_context(_dashboard(out, form, shown))
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
            as_json=as_json,
            prepare=warm_up_visibly,
            watch=watch,
        )


@contextlib.contextmanager
def _dashboard(out: Path, form: str, shown: dict[str, Any]) -> Iterator[Callable[[Standing], None]]:
    """The page, and where to say how the run stands."""
    import os

    from bot.dashboard.feed import Feed, Reached
    from bot.dashboard.pump import About
    from bot.dashboard.server import open_dashboard
    from game.distribution import program_name
    from learning.arena.records import RECORDS_FOLDER

    flags = {f"dashboard.{name}": value for name, value in shown.items()}
    config = load_settings(None, flags | {"records.folder": str(out / RECORDS_FOLDER)})
    feed = Feed()
    with open_dashboard(
        config, os.environ, About(program=program_name(), has_past=form == "mjlog", shows="series"), feed
    ):
        yield lambda standing: feed.put(Reached(standing))
