"""Fault 27 through the program: endless chat from a server fills neither the log nor the capture."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from pathlib import Path

import msgspec

from bot.logs.rate_limit import LIMIT
from tests.bot.fake_server import Flood, Step, fake_server
from tests.bot.scripts import DEAL, END, LOGIN, SEAT, TURN

ROOT = Path(__file__).parents[3]
CHATS = 3000
MOST_BYTES = 150_000
"""A fraction of the size of all the chat."""


async def test_fault_27_chat_without_end_fills_neither_log_nor_capture(tmp_path: Path) -> None:
    flood: list[Step] = [Flood('{"tag":"CHAT","uname":"%41","text":"' + "%41" * 40 + '"}', CHATS)]
    script = [*LOGIN, *flood, *SEAT, *DEAL, *flood, *TURN, *END]
    (tmp_path / "config.yaml").write_text("decision:\n  policy: heuristic\n")
    capture = tmp_path / "frames.tsv"
    async with fake_server(script) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot.cli", "play", "--url", server.url, "--capture", str(capture)),
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path / "state")},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, told = await process.communicate()
    assert process.returncode == 0, told[-2000:]
    lines = [msgspec.json.decode(line) for line in told.splitlines() if line.startswith(b"{")]
    counts = Counter(line["event"] for line in lines)
    # a slow machine needs more than one minute, and each minute has its own lines
    assert LIMIT <= counts["server.text"] <= 10 * LIMIT
    left_out = sum(line.get("left_out", 0) for line in lines)
    left_out += sum(line["lines"] for line in lines if line["event"] == "log.left_out")
    assert counts["server.text"] + left_out == 2 * CHATS
    assert len(told) < MOST_BYTES
    assert capture.stat().st_size < MOST_BYTES
    assert " chat frames left out" in capture.read_text()
