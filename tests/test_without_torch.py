"""What plays, reviews and measures players needs no torch, which takes seconds to import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from replays.formats import write_game
from tests.cli import ROOT
from tests.replays.games import ended_early

PROGRAM = """
import io
import sys

from bot.cli import program

TILES = [f"{number}{suit}" for suit in "mps" for number in "1379"] + ["E"]
ASKED = [
    '{"type":"start_game","id":0,"names":["a","b","c","d"]}',
    '{"type":"start_kyoku","bakaze":"E","dora_marker":"9p","kyoku":1,"honba":0,"kyotaku":0,"oya":0,'
    '"scores":[25000,25000,25000,25000],"tehais":['
    + ",".join("[" + ",".join(f'"{tile}"' for tile in hand) + "]" for hand in (TILES, *[["?"] * 13] * 3))
    + "]}",
    '{"type":"tsumo","actor":0,"pai":"S"}',
]
for words in (
    "ask 123m406p789s11z233z",
    "play --type tonpuu --seed 21",
    "review game.xml --seat 0",
    "arena --challenger network --champion phoenix --games 2 --tonpuu --workers 1 --out arena",
    "engine",
):
    sys.stdin = io.TextIOWrapper(io.BytesIO("\\n".join(ASKED).encode()))
    assert program.run(words.split()) == 0, words
"""


def test_torch_is_not_imported(tmp_path: Path) -> None:
    """A package of its name, found first by every process of the program, cannot be imported."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('torch is imported')")
    (tmp_path / "game.xml").write_text(write_game(ended_early(1), "mjlog"))
    names = {
        "PYTHONPATH": f"{tmp_path}:{ROOT}",
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"type":"dahai"' in done.stdout
