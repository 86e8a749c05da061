"""Tables for tests: their hosts, played by scripts without a browser, and served to browsers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from bot.config.settings import TablePage
from bot.table.command import make_table_app
from bot.table.host import TableHost
from bot.table.plan import Opponents, TableBot, TablePlan, TableSetup
from bot.table.reviews import Advisor, TableReviews
from bot.table.saved import GameFile
from bot.table.seat import PersonSeat
from bot.tenhou.lobby.table_seat import ClockSettings
from bot.web.limits import Limits
from bot.web.serving import PagePort, serving
from kit.errors import ConfigError
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from policies.play.rollout import PolicyChooser
from replays.record import GameRecord
from replays.review.report import Reviewer
from tests.bot.beside import beside
from tests.bot.web.requests import PATIENCE_S

QUICK = TablePlan(length="tonpuu", clock="none", delay_s=0.0, seed=7)
T = TypeVar("T")


def bots(count: int) -> list[TableBot]:
    """Quick players."""
    chooser = PolicyChooser(HeuristicPolicy())
    return [TableBot(f"heuristic {number}", "heuristic", chooser) for number in range(1, count + 1)]


def opponents(plan: TablePlan, people: Sequence[str], programs: Sequence[TableBot] = ()) -> Opponents:
    """The programs of a table: those given, or quick ones."""
    guests = [f"{name}=person" for name in people[1:]]
    setup = TableSetup(plan, people[0], (*guests, *["heuristic"] * (4 - len(people))))
    return Opponents(setup, lambda texts: programs or bots(len(texts)))


def no_reviewer() -> Reviewer:
    """Stands for one that cannot be loaded."""
    raise ConfigError("no reviews in this test")


class Hosted:
    """A table on the running event loop, and the records of its games.

    Attributes:
        kept: where a record is kept; None if it cannot be.
    """

    def __init__(
        self,
        plan: TablePlan = QUICK,
        people: Sequence[str] = ("Anna",),
        *,
        advised: bool = False,
        programs: Opponents | None = None,
        save: Callable[[int, int, str], GameFile | None] = lambda *_: None,
    ) -> None:
        self.records: list[GameRecord] = []
        self.kept: Path | None = None
        self.programs = programs or opponents(plan, people)
        self.host = TableHost(
            self.programs,
            people,
            program="suzaku 0.0",
            keep=self._keep,
            reviews=TableReviews(no_reviewer),
            advisor=Advisor(HeuristicPolicy()) if advised else None,
            save=save,
        )

    def _keep(self, record: GameRecord) -> Path | None:
        self.records.append(record)
        return self.kept

    def open(self, seed: int = 0) -> list[Page]:
        """A page for each person."""
        pages = [Page(seat, random.Random(seed + number)) for number, seat in enumerate(self.host.people)]
        for page in pages:
            page.open()
        return pages

    def sit(self, seed: int = 1) -> list[Page]:
        """The same, and everybody is ready."""
        pages = self.open(seed)
        for page in pages:
            page.say(type="sit")
        return pages


class Page:
    """A page without a browser: reads every message to a seat, and answers its prompts.

    Args:
        seat: the seat.
        rng: chooses actions; every other game by the rules, so that there are riichi and wins too.

    Attributes:
        wise: whether the rules choose.
    """

    def __init__(self, seat: PersonSeat, rng: random.Random) -> None:
        self.seat = seat
        self.texts: list[str] = []
        self.state: dict[str, Any] = {}
        self.answered = -1
        self._rng = rng
        self.wise = rng.random() < 0.5
        self._place = seat.show.place("", "")

    def open(self) -> None:
        """Open the page."""
        self.texts.append(self.seat.show.greeting())
        self.seat.count_pages(1)

    def shut(self) -> None:
        """Close the page."""
        self.seat.count_pages(0)

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
        seen = self.seat.seen
        if self.wise and seen is not None:
            return seen.legal.index(decide(seen, HeuristicPolicy()).action)
        places: dict[str, list[int]] = defaultdict(list)
        for place, action in enumerate(actions):
            places[action["kind"]].append(place)
        for kind in ("ron", "tsumo", "riichi"):
            if places[kind]:
                return places[kind][0]
        return self._rng.choice(places[self._rng.choice([kind for kind in places if places[kind]])])


async def news(pages: Sequence[Page]) -> None:
    """Wait until a page has been sent something, or for a moment; read everything."""
    await asyncio.sleep(0)
    bells = [page.seat.show.bell for page in pages]
    new = [page.read() for page in pages]
    if any(new):
        return
    waiting = [asyncio.ensure_future(bell.wait()) for bell in bells]
    await asyncio.wait(waiting, timeout=0.01, return_when=asyncio.FIRST_COMPLETED)
    for each in waiting:
        each.cancel()
    for page in pages:
        page.read()


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
        await news(pages)
        await asyncio.sleep(pause_s)
        for page in pages:
            page.read()
            page.act()
    await host.ended()
    for page in pages:
        page.read()


class HurriedPlan(TablePlan, frozen=True):
    """A table at which the clock runs out at once."""

    @property
    def clock_settings(self) -> ClockSettings:
        """A quarter of a second for everything."""
        return ClockSettings(base_s=0.25, bank_s=0.0, grace_s=0.0, popup_s=0.25, start_s=0.25)


class ServedTable:
    """A table served to browsers, on a thread of its own.

    Attributes:
        hosted: the table; use `call` to touch it.
        links: the address of every person's page.
        port: where it listens.
    """

    def __init__(self, hosted: Hosted, port: PagePort) -> None:
        self.hosted = hosted
        self.port = port.port
        self.links = [
            f"{port.link}{'&' if '?' in port.link else '?'}seat={s.key}" for s in hosted.host.people
        ]
        self._loop = asyncio.get_running_loop()

    def call(self, work: Callable[[], T]) -> T:
        """Call a function on the table's thread."""

        async def run() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(PATIENCE_S)

    def until(self, true: Callable[[], bool]) -> None:
        """Wait for a condition of the table."""
        end = time.monotonic() + PATIENCE_S
        while not self.call(true):
            assert time.monotonic() < end
            time.sleep(0.02)


def served_table(
    plan: TablePlan = QUICK,
    people: Sequence[str] = ("Anna",),
    *,
    host: str = "127.0.0.1",
    token: str = "",
    advised: bool = False,
) -> AbstractContextManager[ServedTable]:
    """Serve a table."""

    @contextlib.asynccontextmanager
    async def serve() -> AsyncIterator[ServedTable]:
        port = PagePort("table", TablePage(host=host, port=0), token)
        hosted = Hosted(plan, people, advised=advised)
        async with serving(port, make_table_app(port.access, hosted.host), Limits()):
            yield ServedTable(hosted, port)
            hosted.host.close()
        port.close()

    return beside(serve())
