"""`suzaku convert`: a record in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from bot.cli.command import command
from bot.cli.shared import Source
from kit.errors import ConfigError

if TYPE_CHECKING:
    import replays.formats

_SUFFIXES: Final = {"mjlog": ".mjlog.xml", "tenhou6": ".json", "link": ".url", "mjai": ".jsonl"}
_STDOUT: Final = "-"


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
    from bot.records.sources import full_source, load
    from replays.files import write_file
    from replays.formats import FORMATS, LOSSES, compress, format_of_name, write_game
    from replays.record import check_game_id

    form = to or format_of_name(out)
    if form is None:
        raise ConfigError(f"{out}: the suffix matches no format; add --to {'|'.join(FORMATS)}")
    record = load(full_source(source)).record
    text = write_game(record, form)
    if out == _STDOUT:
        sys.stdout.write(text)
    else:
        path = Path(out)
        if path.is_dir():
            # The id comes from the file that was read: use it as a file name only if it is valid.
            path /= f"{check_game_id(record.game_id)}{_SUFFIXES[form]}"
        data = compress(text) if path.name.endswith(".gz") else text.encode("utf-8", "replace")
        write_file(path, data, "name the file itself")
        sys.stdout.write(f"{path}: {form}, {record.rounds} rounds, {len(record.events)} events\n")
    if form in LOSSES:
        sys.stderr.write(f"note: {form} does not keep {LOSSES[form]}\n")
    return 0
