"""Advice on positions."""

from __future__ import annotations

import asyncio
import threading

from bot.table.reviews import Advisor
from game.table.table import Table
from policies.heuristic.player import HeuristicPolicy
from replays.record import DecisionRecord
from tests.bot.table.scenes import PATIENCE_S


async def test_only_the_newest_of_the_positions_that_wait_is_advised_on() -> None:
    advisor, busy = Advisor(HeuristicPolicy()), threading.Event()
    seen = Table(seed=0).observe(0)
    told = asyncio.Queue[tuple[int, DecisionRecord]]()
    advisor.worker.submit(lambda: busy.wait(PATIENCE_S))
    for number in range(5):
        advisor.ask(seen, lambda made, number=number: told.put_nowait((number, made)))  # type: ignore[misc]
    busy.set()
    async with asyncio.timeout(PATIENCE_S):
        assert (await told.get())[0] == 4
    advisor.worker.close()
