"""`suzaku play` as users start it: a process of its own, and real time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0


class Program:
    """The running program: what it logs, and what it prints at its end.

    Attributes:
        logged: its log so far.
        result: the report that it prints at its end.
        said: everything else on stderr.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.logged: list[dict[str, Any]] = []
        self.result: dict[str, Any] = {}
        self.said = ""
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            if line.startswith(b"{"):
                self.logged.append(json.loads(line))
            else:
                self.said += line.decode()

    def named(self, event: str) -> list[dict[str, Any]]:
        """What was logged under this name."""
        return [entry for entry in self.logged if entry["event"] == event]

    async def logs(self, event: str) -> None:
        """Wait until the program logs this."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.named(event):
                await asyncio.sleep(0.01)
                assert not self._reading.done() or self.named(event), (event, self.logged)

    async def ends(self) -> int:
        """Wait for the end; the exit code."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            printed = await self.process.stdout.read()
            await self._reading
            code = await self.process.wait()
        if printed:
            self.result = json.loads(printed)
        return code

    async def kill(self) -> None:
        """Kill it, as an operator or the system does."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        await self._reading


@contextlib.asynccontextmanager
async def suzaku_play(
    folder: Path, *flags: str, settings: Mapping[str, object] | None = None
) -> AsyncIterator[Program]:
    """`suzaku play` in this folder.

    Args:
        folder: its working directory and state.
        flags: of the command.
        settings: of the configuration, by name.
    """
    changed = {"decision.policy": "heuristic"} | dict(settings or {})
    variables = {f"SUZAKU_{name.replace('.', '__').upper()}": str(value) for name, value in changed.items()}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "play", "--json", "--log-format", "json", *flags),
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
            **variables,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    program = Program(process)
    try:
        yield program
    finally:
        await program.kill()


def children_of(pid: int) -> list[str]:
    """The processes that a process has started."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def files_in(folder: Path, pattern: str) -> list[Path]:
    """The files below a folder."""
    return list(folder.rglob(pattern))
