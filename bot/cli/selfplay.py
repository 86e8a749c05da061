"""The command that plays training games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from bot.cli.options import (
    AnswerTimeout,
    AsJson,
    NetworkDevice,
    PlayPrecision,
    Ray,
    Tonpuu,
    WallSeed,
    Workers,
    check_ray,
    reported,
)
from bot.cli.paths import output_folder

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
    )
