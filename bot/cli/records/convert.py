"""`suzaku convert`: a record in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cli.command import command
from bot.cli.shared import Source

if TYPE_CHECKING:
    import replays.formats


@command()
def convert(
    source: Annotated[Source, Parameter(name="IN")],
    out: Source,
    /,
    *,
    to: replays.formats.Format | None = None,
) -> int:
    """Convert a record to another format.

    Args:
        source: a record (mjlog, Tenhou's JSON, mjai or majiang-core, plain or gzipped), a link to a game on
            Tenhou, or its id; - is stdin.
        out: file or folder to write to; - is stdout.
        to: format; default: by the suffix of OUT (.xml, .json, .url, .jsonl).
    """
    from bot.records.convert import convert as convert_record

    return convert_record(source, out, to)
