"""Commands that check real games and build the training corpus from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import (
    AsJson,
    Records,
    Workers,
    folder_for,
    reported,
)

corpus = typer.Typer(help="Build and check the training corpus.", no_args_is_help=True)


@corpus.command("verify")
@reported
def verify_corpus(
    paths: Records,
    as_json: AsJson = False,
    workers: Workers = None,
) -> int:
    """Check real games against the bot's rules.

    Checks every event, every action taken or declined, every win and payment, the order of the rounds, the
    end of the game, and the walls. Lists each difference by game, round and turn.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.verify import print_report, verify

    set_up_logs()
    return print_report(verify(paths, workers), as_json=as_json)


@corpus.command("build")
@reported
def build_corpus(
    paths: Records,
    out: Annotated[Path, folder_for("for the corpus")],
    as_json: AsJson = False,
    workers: Workers = None,
) -> int:
    """Build a training corpus from real games.

    A stopped build resumes where it stopped; a finished one is left unchanged.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.build import build, print_build

    set_up_logs()
    return print_build(build(paths, out, workers), as_json=as_json)


@corpus.command("extract")
@reported
def extract_records(
    paths: Records,
    out: Annotated[Path, folder_for("to write to")],
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="Only games of this split: train, validation or test; may be repeated.", metavar="PART"
        ),
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="Maximum number of games.", metavar="NUMBER", min=1)
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Extract single records from shards, for `suzaku review` and others.

    The id of a game alone decides whether it belongs to train, validation or test; this never changes.
    """
    from bot.logs.setup import set_up_logs
    from learning.corpus.extract import extract, print_extracted

    set_up_logs()
    return print_extracted(extract(paths, out, parts=part or None, games=games), as_json=as_json)
