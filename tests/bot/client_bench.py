"""A client on a fake server, with a clock controlled by the test."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, MutableMapping
from typing import Any

from structlog.testing import capture_logs

from bot.player.clock import Clock
from bot.player.seat_player import PlayerSettings, SeatPlayer
from bot.tenhou.client.core import TenhouClient
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.settings import ClientSettings, Hooks
from bot.tenhou.session.core import Session, SessionSettings
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy
from tests.bot.fake_clock import FakeClock, until


class ClientBench:
    """Runs a client as a task; time advances when the test says so, or as fast as possible with `hurry`."""

    def __init__(
        self,
        *urls: str,
        name: str = "NoName",
        gpid: str = "",
        game_type: int = 9,
        load_policy: Callable[[], Policy] = HeuristicPolicy,
        player: PlayerSettings | None = None,
        journal: Journal | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> None:
        self.clock: Any = clock or FakeClock()
        self.journal = journal or Journal()
        self.frames: list[tuple[str, str]] = []
        self.session = Session(SessionSettings(name=name, game_type=game_type, gpid=gpid))
        rng = random.Random(1)
        self.player = SeatPlayer(load_policy, player or PlayerSettings(), self.clock, rng)
        self.client = TenhouClient(
            ClientSettings(urls=urls, **settings),
            self.session,
            self.player,
            self.journal,
            self.clock,
            rng,
            Hooks(on_frame=lambda side, text: self.frames.append((side, text))),
        )
        self.logs: list[MutableMapping[str, Any]] = []
        self.running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ClientBench:
        self._capture = capture_logs()
        self.logs = self._capture.__enter__()
        self.running = asyncio.create_task(self.client.run())
        return self

    async def __aexit__(self, *exc: Any) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
        self._capture.__exit__(*exc)

    @property
    def done(self) -> bool:
        return self.running.done()

    async def ended(self) -> None:
        """Wait for the run to end; its exception is raised here."""
        await until(lambda: self.done)
        await self.running

    async def hurry(self, step_s: float = 0.25, limit_s: float = 3600.0) -> float:
        """Advance time until the run ends; the seconds that took on the client's clock."""
        began = self.clock.now()
        while not self.done and self.clock.now() - began < limit_s:
            await self.clock.advance(step_s)
            await asyncio.sleep(0.001)
        assert self.done, "still running"
        return self.clock.now() - began

    def events(self) -> list[str]:
        """Names of all log events."""
        return [entry["event"] for entry in self.logs]

    def logged(self, event: str) -> list[MutableMapping[str, Any]]:
        """All log entries with one name."""
        return [entry for entry in self.logs if entry["event"] == event]
