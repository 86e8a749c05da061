"""Commands for what was played: kept games, records, captured frames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.options import (
    AsJson,
    ConfigFile,
    RecordsFolder,
    load_settings,
    reported,
)
from bot.cli.paths import existing_file, output_folder

traffic = typer.Typer(help="Captured frames.", no_args_is_help=True)


@reported
def games(
    folder: RecordsFolder = None,
    player: Annotated[
        str | None, typer.Option(help="Only games with this name, and from where he sat.", metavar="NAME")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Only games of this day in Japan (2026-01-31) and later.", metavar="DAY"),
    ] = None,
    placement: Annotated[
        int | None, typer.Option(min=1, max=4, help="Only games that ended in this place.", metavar="1-4")
    ] = None,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> int:
    """List the games kept so far.

    Date, place, points, type, rounds, id and opponents of each. The place is ours where decisions of ours lie
    beside the record, else that of `--player`.
    """
    config = load_settings(config_file, {"records.folder": folder})
    from bot.games import list_games

    return list_games(config.records.folder, player=player, since=since, placement=placement, as_json=as_json)


@reported
def convert(
    source: Annotated[
        str,
        typer.Argument(
            help="A record: mjlog, Tenhou's JSON, mjai, plain or gzip; a link to a game, or its bare id; "
            "- is stdin.",
            metavar="IN",
        ),
    ],
    out: Annotated[str, typer.Argument(help="File to write, a folder, or - for stdout.", metavar="OUT")],
    to: Annotated[
        str | None,
        typer.Option(
            help="mjlog, tenhou6, link or mjai; without it the name of OUT says (.xml, .json, .url, .jsonl).",
            metavar="FORMAT",
        ),
    ] = None,
) -> int:
    """Write a record in another format."""
    from bot.convert import convert as convert_record
    from bot.logs import set_up_logs

    set_up_logs()
    return convert_record(source, out, to)


@reported
def review(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Records in any format, folders of them, links to games on tenhou.net or their bare ids; "
            "- is stdin.",
            metavar="FILE|DIR|LINK|ID...",
        ),
    ],
    seat: Annotated[
        int | None, typer.Option(help="Whose decisions; 0 dealt first.", metavar="0-3", min=0, max=3)
    ] = None,
    player: Annotated[str, typer.Option(help="The same by name, or by how it begins.", metavar="NAME")] = "",
    policy: Annotated[
        str,
        typer.Option(
            help="Who is asked: network, phoenix, heuristic, random, a folder of checkpoints, or "
            "python:FILE.py (docs/policy.md); with :6 or :12 behind it, networks average over so many "
            "renamings of the tiles.",
            metavar="PLAYER",
        ),
    ] = "network",
    compare: Annotated[
        str,
        typer.Option(help="Another one beside it, or seat:N for another seat's figures.", metavar="PLAYER"),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder of the results; reviews/ by default.", metavar="DIR", parser=output_folder
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON; files are then written only with --out.")
    ] = False,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Leave out names, ranks, ids and dates.")
    ] = False,
    config_file: ConfigFile = None,
) -> int:
    """Review games.

    Every decision of a player held against what the policy would have done: a page to open in a browser, and
    the same as JSON (docs/review.md). Of a folder or several records every game, and an index.
    """
    config = load_settings(config_file, {})
    from bot.review.command import review as review_sources

    return review_sources(
        sources,
        seat=seat,
        player=player,
        policy=policy,
        compare=compare,
        averaging=config.decision.permutations,
        out=out,
        to_json=as_json,
        anonymous=anonymous,
    )


@traffic.command()
@reported
def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Captures: .tsv or .txt (JSON), .log or .xml.", metavar="FILES...", parser=existing_file
        ),
    ],
    insert: Annotated[
        Literal["bye", "forbidden"] | None,
        typer.Option(
            help="Change one place at a time and say whether all after it is read: bye has everybody leave "
            "or return after each server frame, forbidden throws what kuikae or riichi forbids.",
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(help="With --insert: change only each so-many-th place.", metavar="N", min=1)
    ] = 1,
    as_json: AsJson = False,
) -> int:
    """Check captured frames.

    Says for every recorded client frame whether our session would have allowed it there.
    """
    from bot.traffic import print_report, verify

    if insert is None:
        return print_report(verify(files), as_json=as_json)
    from bot.logs import set_up_logs
    from bot.traffic_insertions import print_insertions, verify_with

    set_up_logs()
    return print_insertions(verify_with(insert, files, every=every), as_json=as_json)
