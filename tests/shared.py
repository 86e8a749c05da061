"""Material that lies beside the project and is never part of it: captures and real games."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

SHARED = Path(os.environ.get("SUZAKU_SHARED", Path(__file__).parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """A file or folder of the shared material; without it the test is skipped, and says so."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared material is missing: {path}; set SUZAKU_SHARED to the folder that holds it")
    return path


def shard_texts(shard: str, count: int) -> Iterator[tuple[str, str]]:
    """Id and mjlog text of the first games of a shard of real games."""
    path = shared("data", "tenhou", f"{shard}.jsonl.zst")
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    with path.open("rb") as file, reader.stream_reader(file) as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8")):
            if number == count:
                return
            game = json.loads(line)
            yield game["id"], game["text"]
