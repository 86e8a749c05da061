"""Real games for the tests of the corpus, and shards made of some."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from pathlib import Path

import zstandard

from replays.mjlog.reader import read_record
from replays.record import GameRecord
from tests.shared import shard_texts

MODERN = "houou-01"
OLD = "houou-00"
SANMA = "sanma-00"
OTHER = "other-00"


@functools.cache
def texts(shard: str, count: int) -> tuple[tuple[str, str], ...]:
    """Ids and mjlog texts of the first games of a shard."""
    return tuple(shard_texts(shard, count))


@functools.cache
def records(shard: str, count: int) -> tuple[GameRecord, ...]:
    """The first games of a shard."""
    return tuple(read_record(text, game_id) for game_id, text in texts(shard, count))


def write_shard(path: Path, games: Iterable[tuple[str, str]], extra: bytes = b"") -> Path:
    """A shard of some games, with ``extra`` appended unchanged."""
    lines = [
        json.dumps(
            {"id": game_id, "source": "owner/repository/file", "format": "mjlog", "text": text}
        ).encode()
        for game_id, text in games
    ]
    path.write_bytes(zstandard.compress(b"\n".join(lines) + b"\n" + extra))
    return path
