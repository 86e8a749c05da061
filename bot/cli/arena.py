"""The command that compares two players."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

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
from bot.cli.paths import output_file, output_folder

Challenger: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Player to measure: network, phoenix (the same networks before they learned from strong "
        "programs), large (with some larger models), heuristic, random, or a folder of "
        "checkpoints. Append :6 or :12 to average over that "
        "many tile permutations. python:FILE.py is a policy of your own (docs/policy.md). "
        "External mjai programs: engine:COMMAND answers arrays of messages, "
        "engine-lines:COMMAND answers every message, engine-asked:COMMAND answers only when it has a "
        "choice. Prefix NAME= to set the name in reports and records.",
        metavar="PLAYER",
    ),
]
Champions: TypeAlias = Annotated[
    str, typer.Option("--champion", help="Player in the other seats.", metavar="PLAYER")
]
Games: TypeAlias = Annotated[
    int,
    typer.Option(help="Number of games, rounded up to whole sets.", metavar="NUMBER", min=1),
]
TwoAgainstTwo: TypeAlias = Annotated[
    bool, typer.Option("--two", help="Play two against two instead of one against three.")
]
Sequential: TypeAlias = Annotated[
    bool, typer.Option("--sequential", help="Stop as soon as one side is clearly better.")
]
Independent: TypeAlias = Annotated[
    bool,
    typer.Option("--independent", help="Deal new walls for every game; use it for a player against itself."),
]
CoverageRuns: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Draw this many runs of 400 games from the games played, and report how many of their "
        "intervals contain 2.5: about 95 % if the sides are equal.",
        metavar="NUMBER",
        min=0,
    ),
]
ResultsFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the results. A stopped run resumes there; a finished run continues if --games "
        "is larger.",
        metavar="FOLDER",
        parser=output_folder,
    ),
]
KeepRecords: TypeAlias = Annotated[
    bool, typer.Option("--records", help="Also save the record of every game in --out.")
]
HtmlPage: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Write the comparison as one self-contained web page.",
        metavar="FILE",
        parser=output_file,
    ),
]
ReportOnly: TypeAlias = Annotated[
    bool,
    typer.Option("--report", help="Play no games; report on the games in --out, also of an unfinished run."),
]
Tables: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Concurrent tables per process; default: 128, or 4 with an external engine, which needs one "
        "process per seat.",
        metavar="NUMBER",
        min=1,
    ),
]


@reported
def arena(
    challenger: Challenger = "network",
    champions: Champions = "heuristic",
    games: Games = 400,
    seed: WallSeed = 0,
    two: TwoAgainstTwo = False,
    tonpuu: Tonpuu = False,
    sequential: Sequential = False,
    independent: Independent = False,
    coverage: CoverageRuns = 0,
    out: ResultsFolder = None,
    records: KeepRecords = False,
    html: HtmlPage = None,
    report: ReportOnly = False,
    workers: Workers = None,
    ray: Ray = None,
    tables: Tables = None,
    device: NetworkDevice = "cpu",
    precision: PlayPrecision = "auto",
    answer_timeout: AnswerTimeout = 10.0,
    as_json: AsJson = False,
) -> int:
    """Compare two players.

    The players rotate through the seats over the same walls. Reports their placements with 95 % intervals.
    """
    check_ray(ray)
    from bot.logs.setup import set_up_logs
    from bot.startup.warm import warm_up_visibly
    from learning.arena.command import check_outputs, compare, compare_played, make_plan
    from learning.matches.store import compute_for, tables_in

    set_up_logs()
    if report:
        return compare_played(out, sequential=sequential, coverage_runs=coverage, html=html, as_json=as_json)
    check_outputs(out, html, records=records)
    plan = make_plan(
        challenger,
        champions,
        games=games,
        seed=seed,
        mode="2v2" if two else "1v3",
        length="tonpuu" if tonpuu else "hanchan",
        independent=independent,
        coverage_runs=coverage,
        tables=tables or tables_in(out),
        compute=compute_for(out, device, precision),
        answer_timeout_s=answer_timeout,
    )
    return compare(
        plan,
        folder=out,
        records=records,
        sequential=sequential,
        coverage_runs=coverage,
        html=html,
        workers=workers,
        ray=ray,
        as_json=as_json,
        prepare=warm_up_visibly,
    )
