"""`suzaku corpus`: real games to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from bot.cli.command import command
from bot.cli.shared import AsJson, OutputFolder, Records, Workers
from kit.options import Count, flag
from kit.reports import write_report

if TYPE_CHECKING:
    import learning.data.layout


@command()
def build(paths: Records, /, *, out: OutputFolder, as_json: AsJson = False, workers: Workers = None) -> int:
    """Build a training corpus from real games.

    A stopped build resumes where it stopped; a finished one is left unchanged.

    Args:
        paths: the games.
        out: folder for the corpus.
        as_json: whether to print JSON.
        workers: number of processes.
    """
    from learning.data.build import build as build_from

    return write_report(build_from(paths, out, workers), as_json=as_json)


@command()
def extract(
    paths: Records,
    /,
    *,
    out: OutputFolder,
    parts: Annotated[tuple[learning.data.layout.Split, ...], flag("--part")] = (),
    games: Count | None = None,
    as_json: AsJson = False,
) -> int:
    """Extract single records from shards, for `suzaku review` and others.

    The id of a game alone decides whether it belongs to train, validation or test; this never changes.

    Args:
        paths: the games.
        out: folder to write to.
        parts: only games of this split; may be repeated.
        games: maximum number of games.
        as_json: whether to print JSON.
    """
    from learning.data.extract import extract as extract_from
    from learning.data.extract import print_extracted
    from learning.data.layout import SPLITS

    return print_extracted(extract_from(paths, out, parts=parts or SPLITS, games=games), as_json=as_json)
