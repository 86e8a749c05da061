"""The life of the process that thinks: it plays out, learns and searches, until the program ends."""

from __future__ import annotations

from typing import TypeAlias

from bot.adaptation.adapt import AdaptationServer
from bot.adaptation.messages import RoundOver, SeatView, WorkerSetup
from bot.adaptation.search import SearchRequest, SearchServer
from game.table.table import Table
from game.warmup import warm_up
from kit.workers.child import Line
from policies.adaptation.adapt import Adapter
from policies.adaptation.search import Searcher, load_searcher
from policies.adaptation.simulator import load_simulator
from policies.nets.compute import choose_compute
from policies.nets.device import use_one_torch_thread

ToWorker: TypeAlias = SeatView | SearchRequest | RoundOver


def serve(line: Line, setup: WorkerSetup) -> None:
    """Adapt and search until the program ends; the life of a `kit.workers.child.Child`.

    Args:
        line: to the program.
        setup: what to do, and with what.
    """
    use_one_torch_thread()
    line.memory_mb = setup.memory_mb
    compute = choose_compute(setup.device)
    simulator = load_simulator(setup.folder, setup.thinking, compute)
    thinking = Thinking(line, setup, load_searcher(simulator, compute), Adapter(simulator))
    thinking.try_out()
    line.ready()
    thinking.run()


class Thinking:
    """Does one thing at a time, and looks between the steps at what it was told; searches come first."""

    def __init__(self, line: Line, setup: WorkerSetup, searcher: Searcher, adapter: Adapter) -> None:
        self._line = line
        self._search = SearchServer(searcher, setup, line.send, self._listen)
        self._adapt = AdaptationServer(adapter, setup, line.send, self._meanwhile)

    def try_out(self) -> None:
        """Think about the first discard of a game, so that nothing is loaded or compiled in play."""
        warm_up()
        table = Table(seed=0)
        observation, events = table.observe(table.waiting()[0]), tuple(table.events)
        self._search.try_out(observation, events)
        self._adapt.try_out(observation, events)

    def run(self) -> None:
        """Think; ends with the connection.

        Raises:
            EOFError: the connection was closed.
        """
        while True:
            self._listen(wait=True)
            self.work()

    def work(self) -> None:
        """Do everything that has been asked for."""
        self._meanwhile()
        while self._adapt.due():
            self._adapt.work()
            self._meanwhile()

    def _meanwhile(self) -> None:
        """Take note of everything that was said, and answer what is asked."""
        self._listen()
        while self._search.asked is not None:
            self._search.answer(self._adapt.policy_of)
            self._listen()

    def _listen(self, *, wait: bool = False) -> None:
        """Take note of everything that was said; wait for something if there is nothing to do."""
        for message in self._line.hear(wait=wait):
            self._heard(message)

    def _heard(self, message: ToWorker) -> None:
        match message:
            case SeatView():
                self._adapt.now, self._search.in_round = message, True
            case SearchRequest():  # of a claim, perhaps, which is no position to adapt from
                self._search.asked, self._search.in_round = message, True
            case RoundOver():
                self._adapt.now, self._search.asked, self._search.in_round = None, None, False
