"""`suzaku traffic`: captured frames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bot.cli.command import command
from bot.cli.paths import existing_file
from bot.cli.shared import AsJson
from kit.options import Count


@command()
def verify(
    files: Annotated[list[Path], existing_file, Parameter(name="FILE...")],
    /,
    *,
    insert: Literal["bye", "go", "taikyoku", "init", "forbidden"] | None = None,
    every: Count = 1,
    as_json: AsJson = False,
) -> int:
    """Check captured frames.

    Reads every server frame, and reports for every client frame whether the bot's session would allow it
    there.

    Args:
        files: capture files: .tsv or .txt (JSON), .log or .xml.
        insert: change one place at a time and check that all later frames are still read. bye: all players
            leave or return after a server frame; go, taikyoku, init: another match, game or round begins
            there; forbidden: a discard that kuikae or riichi forbids.
        every: with --insert: change only every N-th place.
        as_json: whether to print JSON.
    """
    from bot.traffic.insertions import print_insertions, verify_with
    from bot.traffic.report import print_report
    from bot.traffic.verify import verify as verify_frames

    if insert is None:
        return print_report(verify_frames(files), as_json=as_json)
    return print_insertions(verify_with(insert, files, every=every), as_json=as_json)
