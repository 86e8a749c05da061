"""`suzaku table` killed in a round, told to end, and left without its terminal: the game can be resumed."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.sync.client import ClientConnection, connect

from replays.formats import read_game
from tests.bot.table.scenes import PATIENCE_S

ROOT = Path(__file__).parents[3]
PLAYERS = ("--opponents", "heuristic", "--tonpuu", "--delay", "0", "--clock", "none", "--seed", "7")


class Table:
    """The running program, and the page of its only person."""

    def __init__(self, process: subprocess.Popen[bytes], line: ClientConnection) -> None:
        self.process = process
        self.state: dict[str, Any] = {}
        self._line = line
        self._answered = 0

    def say(self, **request: Any) -> None:
        self._line.send(json.dumps(request))

    def until_asked(self) -> list[dict[str, Any]]:
        """Wait for a new prompt, a result or the end; returns the actions."""
        while True:
            heard = json.loads(self._line.recv(PATIENCE_S))
            for message in heard if isinstance(heard, list) else []:
                if message["type"] == "session":
                    self.state = message
            prompt = self.state.get("prompt")
            if prompt and prompt["number"] > self._answered:
                return list(prompt["actions"])
            if self.state.get("result") or self.state.get("stage") == "over":
                return []

    def act(self) -> None:
        """Always choose the last action: it is a tsumogiri or a pass."""
        if self.state["prompt"]:
            prompt = self.state["prompt"]
            self._answered = prompt["number"]
            self.say(type="choose", prompt=prompt["number"], choice=len(prompt["actions"]) - 1)
        elif self.state["result"]:
            self.say(type="go_on", result=self.state["result"])

    def play(self, prompts: int) -> list[dict[str, Any]]:
        """Answer some prompts; returns the actions of the next."""
        asked: list[dict[str, Any]] = []
        for _ in range(prompts):
            self.act()
            asked = self.until_asked()
        return asked

    def play_to_the_end(self) -> None:
        """Answer everything, then end the program as a service manager does."""
        while self.state["stage"] != "over":
            self.play(1)
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0


@contextlib.contextmanager
def table(folder: Path, *flags: str, stderr: Any = subprocess.DEVNULL) -> Iterator[Table]:
    program = subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "table", *flags, "--policy", "heuristic", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
        cwd=folder,
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
        },
    )
    with program:
        try:
            assert program.stdout is not None
            link = re.search(r"http://\S+", program.stdout.readline().decode())
            assert link
            where = urlsplit(link[0])
            (seat,) = parse_qs(where.query)["seat"]
            address = f"ws://{where.netloc}/live?run=&seq=0&seat={seat}"
            with connect(address, origin=f"http://{where.netloc}", max_size=None, close_timeout=0.1) as line:
                yield Table(program, line)
        finally:
            program.kill()


@pytest.mark.slow
@pytest.mark.usefixtures("own_signals")
def test_a_killed_game_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
    with table(whole, *PLAYERS) as at:
        at.say(type="sit")
        at.until_asked()
        at.play_to_the_end()
    with table(cut, *PLAYERS) as at:
        at.say(type="sit")
        at.until_asked()
        asked = at.play(7)
        assert asked
        at.process.kill()
    with table(cut, "--resume", stderr=subprocess.PIPE) as at:
        assert at.until_asked() == asked
        asked = at.play(5)
        at.process.send_signal(signal.SIGTERM)
        assert at.process.wait(PATIENCE_S) == 130
        assert at.process.stderr is not None
        assert b"`suzaku table --resume` continues it" in at.process.stderr.read()
    ours, theirs = pty.openpty()
    with table(cut, "--resume", stderr=theirs) as at:
        assert at.until_asked() == asked
        asked = at.play(3)
        os.close(theirs)
        os.close(ours)
        at.process.send_signal(signal.SIGHUP)
        assert at.process.wait(PATIENCE_S) == 130
    with table(cut, "--resume") as at:
        assert at.until_asked() == asked
        at.play_to_the_end()
    (one,), (other,) = (list((folder / "data").rglob("*.xml")) for folder in (whole, cut))
    assert read_game(one).events == read_game(other).events
    assert not list((cut / "state").rglob("*.game"))
