"""Commands for games that were played: saved games, records, captured frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from bot.cli.command import load_settings
from bot.cli.options import (
    AsJson,
    ConfigFile,
    Device,
    RecordsFolder,
    reported,
)
from bot.cli.paths import existing_file, output_folder

if TYPE_CHECKING:
    from replays.review.judging import Adviser

traffic = typer.Typer(help="Check captured frames.", no_args_is_help=True)


@reported
def games(
    folder: RecordsFolder = None,
    player: Annotated[
        str | None, typer.Option(help="Only games of this player, seen from their seat.", metavar="NAME")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Only games from this day on, Japan time (2026-01-31).", metavar="DAY"),
    ] = None,
    placement: Annotated[
        int | None, typer.Option(min=1, max=4, help="Only games with this final place.", metavar="1-4")
    ] = None,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """List the saved games.

    Shows the date, place, points, type, rounds, id and opponents of each game. The place is the bot's if its
    decisions are saved with the record, else that of `--player`.
    """
    from bot.logs.setup import set_up_logs

    set_up_logs()
    config = load_settings(config_file, {"records.folder": folder})
    from bot.records.games import list_games

    return list_games(config.records.folder, player=player, since=since, placement=placement, as_json=as_json)


@reported
def convert(
    source: Annotated[
        str,
        typer.Argument(
            help="A record (mjlog, Tenhou's JSON or mjai, plain or gzipped), a link to a game on Tenhou, "
            "or its id; - is stdin.",
            metavar="IN",
        ),
    ],
    out: Annotated[str, typer.Argument(help="File or folder to write to; - is stdout.", metavar="OUT")],
    to: Annotated[
        str | None,
        typer.Option(
            help="Format: mjlog, tenhou6, link or mjai; default: by the suffix of OUT (.xml, .json, .url, "
            ".jsonl).",
            metavar="FORMAT",
        ),
    ] = None,
) -> int:
    """Convert a record to another format."""
    from bot.logs.setup import set_up_logs
    from bot.records.convert import convert as convert_record

    set_up_logs()
    return convert_record(source, out, to)


Sources: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        help="Records in any format, folders of records, links to games on tenhou.net, or ids of games; "
        "- is stdin.",
        metavar="FILE|DIR|LINK|ID...",
    ),
]
Seat: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Player to review, by number; 0 is the first dealer.", metavar="0-3", min=0, max=3),
]
ReviewedPlayer: TypeAlias = Annotated[
    str, typer.Option(help="Player to review, by name or the start of it.", metavar="NAME")
]
ComparedPolicy: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Policy to compare the decisions with: network, phoenix, large, heuristic, "
        "random, a folder of checkpoints, python:FILE.py (docs/policy.md), or for reviews engine:COMMAND "
        "(docs/engine.md). Append :6 or :12 to a network to average over as many tile permutations.",
        metavar="PLAYER",
    ),
]
SecondPolicy: TypeAlias = Annotated[
    str,
    typer.Option(
        help="A second policy to show as well, or seat:N for the figures of another player, by number.",
        metavar="PLAYER",
    ),
]
ReviewFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for the results; default: reviews/.", metavar="DIR", parser=output_folder
    ),
]
ReviewAsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the review as JSON; write files only if --out is given.")
]
AllSeats: TypeAlias = Annotated[
    bool, typer.Option("--all-seats", help="Review all four players on one page, with a switch.")
]
Candidates: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Show so many hands that each opponent may hold, at each decision and by each model of hands.",
        metavar="NUMBER",
        min=0,
        max=100,
    ),
]
Anonymous: TypeAlias = Annotated[bool, typer.Option("--anonymous", help="Omit names, ranks, ids and dates.")]


@reported
def review(
    sources: Sources,
    seat: Seat = None,
    player: ReviewedPlayer = "",
    policy: ComparedPolicy = "network",
    compare: SecondPolicy = "",
    out: ReviewFolder = None,
    as_json: ReviewAsJson = False,
    anonymous: Anonymous = False,
    all_seats: AllSeats = False,
    candidates: Candidates = 0,
    device: Device = None,
    config_file: ConfigFile = None,
) -> int:
    """Review games.

    Compares every decision of a player with the policy's choice, and writes a web page and the same data as
    JSON (docs/review.md). For a folder or several records it reviews every game and adds an index. For the
    log of a duel (`suzaku duel --log`) it writes a page with both hands, the wall and all decisions.
    """
    from bot.logs.setup import set_up_logs

    set_up_logs()
    config = load_settings(config_file, {"decision.device": device})
    from bot.review.command import review as review_sources
    from bot.startup.models import compute_of

    return review_sources(
        sources,
        seat=seat,
        player=player,
        policy=_adviser(policy),
        compare=_adviser(compare),
        averaging=config.decision.permutations,
        compute=compute_of(config.decision),
        out=out,
        to_json=as_json,
        anonymous=anonymous,
        all_seats=all_seats,
        candidates=candidates,
    )


def _adviser(text: str) -> str | Adviser:
    """The engine that a text specifies, else the text."""
    if not text.startswith("engine"):
        return text
    from learning.matches.advising import EngineAdviser
    from learning.matches.engines import engine_of

    return EngineAdviser(text) if engine_of(text) else text


@traffic.command()
@reported
def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Capture files: .tsv or .txt (JSON), .log or .xml.",
            metavar="FILES...",
            parser=existing_file,
        ),
    ],
    insert: Annotated[
        Literal["bye", "forbidden"] | None,
        typer.Option(
            help="Change one place at a time and check that all later frames are still read. bye: all "
            "players leave or return after a server frame; forbidden: a discard that kuikae or riichi "
            "forbids.",
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(help="With --insert: change only every N-th place.", metavar="N", min=1)
    ] = 1,
    as_json: AsJson = False,
) -> int:
    """Check captured frames.

    Reads every server frame, and reports for every client frame whether the bot's session would allow it
    there.
    """
    from bot.traffic.report import print_report
    from bot.traffic.verify import verify

    if insert is None:
        return print_report(verify(files), as_json=as_json)
    from bot.logs.setup import set_up_logs
    from bot.traffic.insertions import print_insertions, verify_with

    set_up_logs()
    return print_insertions(verify_with(insert, files, every=every), as_json=as_json)
