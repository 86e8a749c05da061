"""A game played once for all tests, and dashboards that show it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from websockets.sync.client import ClientConnection, connect

from bot.config.settings import Config, Dashboard, Local, Play, Records
from bot.dashboard.feed import DecisionSent, Feed, Item
from bot.dashboard.server import DashboardServer as Server
from bot.dashboard.server import SessionInfo
from bot.play.run import PlayRun
from bot.player.clock import MonotonicClock
from bot.tenhou.names import GUEST
from policies.heuristic.player import HeuristicPolicy
from replays.store.index import games
from tests.bot.web.requests import PATIENCE_S

ABOUT = SessionInfo(program="suzaku 0.0", policy="heuristic", budget_ms=3000, wanted=1)


def config_of(folder: Path, games_wanted: int = 1) -> Config:
    """A tonpuu game in the built-in lobby, always with the same walls."""
    return Config(
        play=Play(games=games_wanted, seed=7, pace="instant"),
        local=Local(type=1),
        records=Records(folder=folder),
    )


@cache
def played() -> tuple[Item, ...]:
    """Everything that a game of ours leaves in the feed."""
    with TemporaryDirectory() as folder:
        return play(Path(folder))


def play(folder: Path) -> tuple[Item, ...]:
    """Play a game, save its record, and return what it left in the feed."""
    feed = Feed()
    run = PlayRun(
        config_of(folder), GUEST, None, HeuristicPolicy, time.monotonic(), MonotonicClock(), None, feed
    )
    asyncio.run(run.play())
    run.close()
    assert run.result().exit_code == 0
    return tuple(feed.take())


@cache
def library() -> Path:
    """A folder with that game in it."""
    folder = Path(_KEPT.name)
    play(folder)
    assert games(folder)[0]
    return folder


_KEPT = TemporaryDirectory()


def server(feed: Feed | None, folder: Path, port: int = 0, **options: Any) -> Server:
    """A dashboard on this machine."""
    host = options.pop("host", "127.0.0.1")
    about = options.pop("about", ABOUT)
    return Server(Dashboard(host=host, port=port), folder, about, feed, **options)


def put(feed: Feed, items: Sequence[Item]) -> None:
    """Put items into the feed, as a game does."""
    for item in items:
        feed.put(item)


def gathered(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The result of all messages of one game, combined as the page does it."""
    shown: dict[str, Any] = {}
    for message in messages:
        match message["type"]:
            case "game":
                head = message["game"]
                shown = head | {"game": dict(head["game"]), "rounds": [], "decisions": []}
            case "round":
                shown["rounds"].append(message["round"] | {"events": list(message["round"]["events"])})
            case "events":
                shown["rounds"][message["round"]]["events"].extend(message["events"])
            case "patch":
                shown["rounds"][message["round"]].update(message["fields"])
            case "decision":
                shown["decisions"].append(message["decision"])
            case "hands":
                place = (message["round"], message["event"])
                for decision in shown["decisions"]:
                    if (decision["round"], decision["event"]) == place:
                        decision["candidates"] = message["candidates"]
            case "over":
                shown["game"].update({key: message[key] for key in ("scores", "results", "places")})
    return shown


class Watcher:
    """A browser without a screen: the messages received, and the game they add up to."""

    def __init__(self, port: int, run: str = "", seq: int = 0, **options: Any) -> None:
        address = f"ws://127.0.0.1:{port}/live?run={run}&seq={seq}"
        options = {"origin": f"http://127.0.0.1:{port}", "max_size": None} | options
        self._opened = connect(address, **options)
        self.line: ClientConnection = self._opened.__enter__()
        self.hello = json.loads(self.line.recv(PATIENCE_S))
        self.messages: list[dict[str, Any]] = []

    def hear(self, until: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """All messages up to one that satisfies a condition."""
        while True:
            new = json.loads(self.line.recv(PATIENCE_S))
            self.messages += new
            if any(until(message) for message in new):
                return self.messages

    @property
    def game(self) -> dict[str, Any]:
        """The game that the messages add up to."""
        return gathered([message for message in self.messages if "seq" in message])

    def close(self) -> None:
        """Close the connection."""
        self._opened.__exit__(None, None, None)


def is_over(message: dict[str, Any]) -> bool:
    """Whether a message ends the game."""
    return message["type"] == "over"


def decided(items: Sequence[Item]) -> int:
    """Number of decisions with a choice."""
    return sum(isinstance(item, DecisionSent) and item.made.decision.step != "forced" for item in items)


def threads(name: str) -> int:
    """Number of running threads with this name."""
    return sum(thread.name == name for thread in threading.enumerate())
