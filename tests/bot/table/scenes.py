"""Tables for tests: their hosts, played by scripts without a browser, and served to browsers."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bot.table.advice import Advisor
from bot.table.host import TableHost
from bot.table.plan import TableBot, TablePlan
from bot.table.reviews import TableReviews
from bot.table.seat import PersonSeat
from game.errors import ConfigError
from policies.heuristic.player import HeuristicPolicy
from policies.rollout import PolicyChooser
from replays.record import GameRecord
from replays.review.report import Reviewer

QUICK = TablePlan(length="tonpuu", clock="none", delay_s=0.0, seed=7)
Says = Callable[[str], None]


def bots(count: int) -> list[TableBot]:
    """Quick players."""
    chooser = PolicyChooser(HeuristicPolicy())
    return [TableBot(f"heuristic {number}", chooser) for number in range(1, count + 1)]


def no_reviewer() -> Reviewer:
    """Stands for one that cannot be loaded."""
    raise ConfigError("no reviews in this test")


class Hosted:
    """A table on the running event loop, and the records of its games."""

    def __init__(
        self,
        plan: TablePlan = QUICK,
        people: Sequence[str] = ("Anna",),
        *,
        advised: bool = False,
        reviewer: Callable[[], Reviewer] = no_reviewer,
    ) -> None:
        self.records: list[GameRecord] = []
        self.host = TableHost(
            plan,
            people,
            bots(4 - len(people)),
            program="suzaku 0.0",
            keep=self._keep,
            reviews=TableReviews(reviewer),
            advisor=Advisor(HeuristicPolicy()) if advised else None,
        )

    def _keep(self, record: GameRecord) -> Path | None:
        self.records.append(record)
        return None


class Page:
    """A page without a browser: reads every message to a seat, and answers with any legal action.

    Args:
        seat: the seat.
        rng: chooses actions.
    """

    def __init__(self, seat: PersonSeat, rng: random.Random) -> None:
        self.seat = seat
        self.texts: list[str] = []
        self.state: dict[str, Any] = {}
        self.answered = -1
        self._rng = rng
        self._place = seat.show.place("", "")

    def open(self) -> None:
        """Open the page."""
        self.texts.append(self.seat.show.greeting())
        self.seat._count(1)

    def read(self) -> list[dict[str, Any]]:
        """All new messages."""
        new: list[dict[str, Any]] = []
        while True:
            text, self._place = self.seat.show.since(self._place)
            if not text:
                return new
            self.texts.append(text)
            new += json.loads(text)
            self.state = next((m for m in reversed(new) if m["type"] == "session"), self.state)

    def say(self, **request: Any) -> None:
        """Send a request."""
        self.seat.hear(json.dumps(request))

    def act(self) -> None:
        """Answer whatever is open."""
        prompt = self.state.get("prompt")
        if prompt and prompt["number"] != self.answered:
            self.answered = prompt["number"]
            self.say(type="choose", prompt=prompt["number"], choice=self._choice(prompt["actions"]))
        elif self.state.get("result"):
            self.say(type="go_on", result=self.state["result"])

    def _choice(self, actions: Sequence[dict[str, Any]]) -> int:
        places: dict[str, list[int]] = defaultdict(list)
        for place, action in enumerate(actions):
            places[action["kind"]].append(place)
        for kind in ("ron", "tsumo", "riichi"):
            if places[kind]:
                return places[kind][0]
        return self._rng.choice(places[self._rng.choice([kind for kind in places if places[kind]])])


async def play_through(pages: Sequence[Page], host: TableHost, pause_s: float = 0.0) -> None:
    """Sit down, and play one game to its end and its reviews.

    Args:
        pages: one for each person.
        host: the table.
        pause_s: what a person takes to think.
    """
    for page in pages:
        page.say(type="sit")
    while host.playing:
        bells = [page.seat.show.bell for page in pages]
        new = [page.read() for page in pages]
        if not any(new):
            waiting = [asyncio.ensure_future(bell.wait()) for bell in bells]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for each in waiting:
                each.cancel()
        await asyncio.sleep(pause_s)
        for page in pages:
            page.read()
            page.act()
    await host.ended()
    for page in pages:
        page.read()
