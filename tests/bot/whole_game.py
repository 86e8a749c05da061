"""Our client plays a whole game in a seeded lobby, over a connection disturbed by a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.player.clock import MonotonicClock
from bot.player.tally import DecisionTally
from bot.tenhou.client.journal import GameResult
from bot.tenhou.client.settings import Waits
from bot.tenhou.lobby import Lobby, LobbySettings
from game.events import GameEvent, PlayerLeft, PlayerReturned
from replays.record import GameRecord
from tests.bot.client_bench import ClientBench
from tests.bot.relay import Plan, Relay, Side, unchanged

TONPUU = 1
SHORT = 21
"""A seed whose games in the lobby are short."""
QUICK = Waits(first_s=0.004, growth=2.0, longest_s=0.1, tries=12)
ACCOUNT = "ID0123ABCD-aBcD5678"


@dataclass
class Outcome:
    """The outcome of the game.

    Attributes:
        record: the lobby's.
        results: the client's.
        missed: games whose end the client did not see.
        frames: all that passed the relay, with sender and text.
        connections: how many were used.
        logs: everything logged.
    """

    record: GameRecord
    results: list[GameResult]
    missed: int
    frames: list[tuple[Side, str]]
    connections: int
    tally: DecisionTally
    logs: Sequence[dict[str, object]] = field(default_factory=list)

    @property
    def events(self) -> list[GameEvent]:
        """The events of the game without players leaving and returning."""
        return [e for e in self.record.events if not isinstance(e, PlayerLeft | PlayerReturned)]

    @property
    def last_reply(self) -> int:
        """Number of our last frame that affected the game."""
        return max(
            n for n, (side, text) in enumerate(self.frames, start=1) if side == "C" and "BYE" not in text
        )

    def count(self, event: str) -> int:
        """How often an event was logged."""
        return sum(entry["event"] == event for entry in self.logs)


async def play_through(
    plan: Plan = unchanged, *, seed: int = SHORT, name: str = "NoName", **settings: object
) -> Outcome:
    """Play one game to its end; the lobby's record and the client's results."""
    records: list[GameRecord] = []
    settings = {"in_game": QUICK, "at_login": QUICK, "id_busy": QUICK} | settings
    async with (
        Lobby(LobbySettings(seed=seed), on_record=records.append) as lobby,
        Relay(lobby.url, plan).running() as relay,
        ClientBench(relay.url, name=name, game_type=TONPUU, clock=MonotonicClock(), **settings) as bench,
    ):
        async with asyncio.timeout(300):
            await bench.ended()
        await lobby.records_saved()
    journal = bench.journal
    return Outcome(
        records[0],
        journal.results,
        len(journal.missed_games),
        relay.frames,
        relay.connections,
        bench.player.tally,
        bench.logs,
    )


_UNDISTURBED: dict[str, Outcome] = {}


async def undisturbed(name: str = "NoName") -> Outcome:
    """The game over a sound connection, played once for all tests of a process."""
    played = _UNDISTURBED.get(name)
    if played is None:
        played = _UNDISTURBED[name] = await play_through(name=name)
    return played
