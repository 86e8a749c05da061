"""`suzaku corpus extract`: writes single records from shards, to look at, review or convert."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from kit.errors import ReplayError
from kit.files import replace_file
from kit.reports import write_report
from kit.text import clean_text
from learning.data.layout import SPLITS, Split, split_of
from learning.data.sources import load, stored_games
from replays.files import RECORD_SUFFIX


class Extracted(msgspec.Struct, frozen=True):
    """Result of an extraction.

    Attributes:
        folder: folder of the records; each file is named after its id.
        games: number of records written.
        unreadable: places that hold no readable record, with the reason.
    """

    folder: str
    games: int
    unreadable: tuple[str, ...]


def extract(
    paths: Sequence[Path], out: Path, *, parts: Collection[Split] = SPLITS, games: int | None = None
) -> Extracted:
    """Write each record to a file of its own, in the order of the sources.

    Args:
        paths: shards, records and folders of them.
        out: folder to write to.
        parts: parts of the corpus to take games from.
        games: upper limit, None for no limit.

    Raises:
        ReplayError: there are no records, or the folder is not writable.
    """
    written: set[str] = set()
    unreadable: list[str] = []
    for stored in stored_games(paths):
        if games is not None and len(written) >= games:
            break
        try:
            loaded = load(stored)
        except ReplayError as exc:
            unreadable.append(f"{stored.place}: {exc}")
            continue
        if SPLITS[split_of(loaded.game_id)] in parts:
            _write(out / (loaded.game_id + RECORD_SUFFIX), loaded.text)
            written.add(loaded.game_id)
    return Extracted(str(out), len(written), tuple(unreadable))


def print_extracted(found: Extracted, *, as_json: bool) -> int:
    """Print the result; exit code 1 if a record could not be read."""
    write_report(
        found,
        lambda found: f"{found.games} games in {found.folder}, {len(found.unreadable)} unreadable",
        as_json=as_json,
    )
    sys.stderr.writelines(f"unreadable: {clean_text(each)}\n" for each in found.unreadable)
    return 1 if found.unreadable else 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8", "replace"))
    except OSError as exc:
        raise ReplayError(f"{path}: cannot be written: {exc.strerror}; name another folder") from exc
