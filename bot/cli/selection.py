"""Options that select games, players and decisions, shared by training and evaluation commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.paths import existing_path

Data = Annotated[
    list[Path],
    typer.Option(
        "--data",
        help="Folder of a corpus, or records as for `suzaku corpus build`; may be repeated.",
        metavar="PATH",
        parser=existing_path,
    ),
]
Split = Annotated[
    str,
    typer.Option(
        help="Split to use: train, validation, test or all; default: test for a corpus, all for records.",
        metavar="NAME",
    ),
]
Rooms = Annotated[
    list[str] | None,
    typer.Option(help="Only games in this room (houou, tokujou, …); may be repeated.", metavar="ROOM"),
]
LeastRank = Annotated[
    int, typer.Option(help="Only players of at least this rank; 16 is 7-dan.", metavar="NUMBER", max=100)
]
PlayerName = Annotated[str, typer.Option(help="Only the player with this name.", metavar="NAME")]
OfficialAi = Annotated[
    bool | None, typer.Option("--ai/--people", help="Only official AI accounts, or only people.")
]
GameSample = Annotated[
    int,
    typer.Option(help="Number of matching games to sample; 0 for all.", metavar="NUMBER", min=0),
]
