"""Names of the files of a library: a record, and beside it the decisions of seats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

RECORD_SUFFIX: Final = ".mjlog.xml"
DECISIONS_SUFFIX: Final = ".decisions.jsonl"


def decisions_file(record: Path, player: int | None = None) -> Path:
    """The file beside a record with the decisions of a seat; without a seat, the file used by older games.

    >>> decisions_file(Path("r/ID.mjlog.xml"), 2).name, decisions_file(Path("r/ID.mjlog.xml")).name
    ('ID.seat2.decisions.jsonl', 'ID.decisions.jsonl')
    """
    seat = "" if player is None else f".seat{player}"
    return record.with_name(record.name.removesuffix(RECORD_SUFFIX) + seat + DECISIONS_SUFFIX)


def record_file(decisions: Path) -> Path:
    """The record beside a file of decisions."""
    name = re.sub(r"(\.seat[0-3])?$", "", decisions.name.removesuffix(DECISIONS_SUFFIX))
    return decisions.with_name(name + RECORD_SUFFIX)
