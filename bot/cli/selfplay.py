"""The command that plays games to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.options import AsJson, Ray, Workers, reported


@reported
def selfplay(
    games: Annotated[int, typer.Option(help="How many.", metavar="NUMBER", min=1)],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder for results and records; a run that was stopped goes on there.",
            metavar="FOLDER",
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
    seed: Annotated[int, typer.Option(help="Every wall follows from it.", metavar="NUMBER")] = 0,
    tonpuu: Annotated[bool, typer.Option("--tonpuu", help="East games, not hanchan.")] = False,
    form: Annotated[
        Literal["mjlog", "mjai"], typer.Option("--format", help="Of the records.", metavar="mjlog|mjai")
    ] = "mjlog",
    workers: Workers = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> int:
    """Let players play, and keep the games to learn from.

    Each game has walls of its own, and the players sit in every order in turn. The records are what `suzaku
    corpus build` reads.
    """
    from bot.logs import set_up_logs
    from bot.warm import warm_up_visibly
    from learning import selfplay as playing

    set_up_logs()
    return playing.selfplay(
        players or ["network"],
        out,
        games=games,
        seed=seed,
        length="tonpuu" if tonpuu else "hanchan",
        form=form,
        workers=workers,
        ray=ray,
        as_json=as_json,
        prepare=warm_up_visibly,
    )
