"""The thinking process, and the use of its results: adapted policies, and the values of options.

The process plays out, learns and searches until the program ends. It may be late, dead, hung, out of memory
or wrong, and may speak of an earlier round. Then the initial policy decides, which is never changed, and the
log says so once.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import structlog

from bot.adaptation.adapt import AdaptationClient, AdaptationServer, AdaptedWeights
from bot.adaptation.messages import RoundKey, RoundOver, SeatView, WorkerSetup
from bot.adaptation.search import SearchAnswer, SearchClient, SearchRequest, SearchServer
from bot.adaptation.status import AdaptationStatus
from bot.player.clock import Clock
from bot.player.decision_maker import SeatPrompt
from bot.player.pace import Pace
from game.events import GameEvent
from game.observation import Observation
from game.scoring.settlement import LAST_ROUND
from game.table.table import Table
from game.warmup import warm_up
from kit.workers.child import STARTS, Child, ChildReady, Line
from policies.adaptation.adapt import Adapter
from policies.adaptation.search import Searcher, load_searcher
from policies.adaptation.simulator import load_simulator
from policies.flow.decisions import Decision
from policies.nets.compute import choose_compute
from policies.nets.device import use_one_torch_thread
from policies.play.inference import NetworkPolicy

When: TypeAlias = Literal["always", "last_rounds", "stake"]
FromWorker: TypeAlias = AdaptedWeights | SearchAnswer
ToWorker: TypeAlias = SeatView | SearchRequest | RoundOver

_IN_REACH: Final = 16_000
"""Points between two places that one hand can make up."""

log = structlog.get_logger(__name__)


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


class Thoughts:
    """Thinks about the rounds of one seat in a process of its own; a `bot.player.seat_player.Improver`.

    Args:
        setup: of the process.
        policy: of the start.
        search_s: seconds from a prompt that a search may take; 0 for no search.
        when: in which rounds.
        clock: of the prompts.
        pace: of answers.

    Attributes:
        process: the running one; None if it has been lost for good, or has ended.
        dropped: results that were not used, by reason.
    """

    def __init__(
        self,
        setup: WorkerSetup,
        policy: NetworkPolicy,
        search_s: float,
        when: When,
        clock: Clock,
        pace: Pace,
    ) -> None:
        self.dropped: dict[str, int] = {}
        self._setup, self._when = setup, when
        self._adapt = AdaptationClient(setup.thinking, policy, self._drop)
        self._search = SearchClient(setup.thinking, search_s, clock, pace, self._drop)
        self.process: Child[WorkerSetup] | None = None
        self._starts = 0
        self._game_id = ""

    @property
    def status(self) -> AdaptationStatus | None:
        """Progress of adapting to the current round; None if it is not adapted to."""
        return self._adapt.status

    # --- the process ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process; it warms up by itself. Without it, if the system has nothing left for it."""
        self._starts += 1
        try:
            self.process = Child(serve, self._setup, self._heard, self._replace)
        except OSError as error:
            log.warning("adaptation.off", reason=f"it cannot be started: {error}", until="the program ends")

    def close(self) -> None:
        """End the process, and wait for it."""
        process, self.process = self.process, None
        if process is not None:
            process.close()
            process.join()

    def _usable(self) -> Child[WorkerSetup] | None:
        """The process, replaced if it hangs; None if there is none that can be used now."""
        process = self.process
        if process is not None and process.hangs:
            process.close()
            self._replace("it hangs")
            process = self.process
        return process if process is not None and process.ready.is_set() else None

    def _replace(self, reason: str) -> None:
        """Start another process, once."""
        self.process = None
        self._adapt.forget()
        if self._starts < STARTS:
            log.warning("adaptation.restarted", reason=reason)
            self.start()
        else:
            log.warning("adaptation.off", reason=reason, until="the program ends")

    # --- what the player tells and asks ----------------------------------------------------------------

    def begin_game(self, game_id: str) -> None:
        """A new game begins."""
        self._game_id = game_id
        self._adapt.forget()

    def see(self, observation: Observation, events: tuple[GameEvent, ...]) -> None:
        """The round as our seat sees it now."""
        process = self._usable()
        if process is not None and self._wanted(observation):
            self._adapt.see(SeatView(self._key(observation), observation, events), process.send)

    def round_over(self) -> None:
        """The round has ended."""
        self._adapt.forget()
        if (process := self.process) is not None:
            process.send(RoundOver())

    def adapted(self, prompt: SeatPrompt, decision: Decision) -> Decision:
        """The decision of the adapted policy; see `AdaptationClient.adapted`."""
        return self._adapt.adapted(self._key(prompt), prompt, decision)

    async def searched(self, prompt: SeatPrompt, decision: Decision, until: float) -> Decision:
        """The decision after a search; see `SearchClient.searched`."""
        process = self._usable()
        if process is None or not self._wanted(prompt):
            return decision
        return await self._search.searched(process.send, self._key(prompt), prompt, decision, until)

    def _heard(self, message: FromWorker | ChildReady) -> None:
        """Take note of what the process says; on its thread."""
        match message:
            case ChildReady():
                log.info("adaptation.ready")
            case AdaptedWeights():
                self._adapt.hear(message)
            case SearchAnswer():
                self._search.hear(message)

    # --- helpers ---------------------------------------------------------------------------------------

    def _drop(self, reason: str) -> None:
        """Count a result that is not used, and log each reason once."""
        if reason not in self.dropped:
            log.warning("adaptation.dropped", reason=reason)
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def _key(self, observation: Observation) -> RoundKey:
        record = observation.record
        return self._game_id, int(record["round_index"]), int(record["honba"])

    def _wanted(self, observation: Observation) -> bool:
        """Whether this round is one to think about."""
        if self._when == "always":
            return True
        record = observation.record
        if int(record["round_index"]) < LAST_ROUND[observation.length] - 1:
            return False
        if self._when == "last_rounds":
            return True
        own = int(record["scores"][observation.player])
        others = [int(record["scores"][player]) for player in range(4) if player != observation.player]
        return any(abs(own - score) <= _IN_REACH for score in others)
