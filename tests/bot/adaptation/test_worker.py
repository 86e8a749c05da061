"""What the thinking process makes of a round, turn by turn; here without a process of its own."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from bot.adaptation import adapt
from bot.adaptation.adapt import AdaptedWeights
from bot.adaptation.messages import RoundOver, SeatView, WorkerSetup
from bot.adaptation.search import SearchAnswer, SearchRequest
from bot.adaptation.thoughts import FromWorker, Thinking, ToWorker
from game.observation import Observation
from game.state import clone
from game.table.table import Table
from kit.errors import ModelError
from kit.workers import child
from kit.workers.child import ChildBusy, Line
from policies.adaptation.adapt import Adapter
from policies.adaptation.search import Searcher
from policies.adaptation.settings import ThinkingSettings
from policies.adaptation.simulator import Simulator, load_simulator
from policies.nets.compute import Compute
from tests.bot.adaptation.turns import teaching_turn
from tests.policies.models import EAGER, save_models

PLAYOUTS = 16
SETUP = WorkerSetup(
    folder=Path(),
    thinking=ThinkingSettings(
        worlds=4, playouts=PLAYOUTS, sampler="uniform", reward="points", adaptation=EAGER
    ),
    device="cpu",
    seconds=600.0,
    memory_mb=8_000,
)
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> WorkerSetup:
    return msgspec.structs.replace(
        SETUP, folder=save_models(tmp_path_factory.mktemp("models"), tower="suits")
    )


@pytest.fixture(scope="module")
def simulator(setup: WorkerSetup) -> Simulator:
    return load_simulator(setup.folder, setup.thinking, Compute())


@pytest.fixture(scope="module")
def turns() -> list[SeatView]:
    """Three turns of one player, late in a round, so that play-outs are short."""
    table, found = Table(3), []
    while len(found) < 3:
        if table.state["discard_count"] >= 40 and table.waiting() == [0] and table.state["turn"] == 0:
            seen = table.observe(0)
            seen = Observation(clone(seen.record), 0, seen.legal, seen.length)
            found.append(SeatView(("g", 0, 0), seen, tuple(table.events)))
        table.step({player: table.legal(player)[-1] for player in table.waiting()})
    return found


class Bench:
    """The thinking process's work, and the program's end of its line."""

    def __init__(self, setup: WorkerSetup, simulator: Simulator) -> None:
        self.ours, theirs = multiprocessing.Pipe()
        line = Line(theirs)
        line.memory_mb = setup.memory_mb
        self.thinking = Thinking(line, setup, Searcher(simulator), Adapter(simulator))

    def tell(self, message: ToWorker) -> list[FromWorker]:
        """What it says until it has nothing left to do, but not how often it says that it works."""
        self.ours.send(message)
        self.thinking.work()
        heard: list[FromWorker] = []
        while self.ours.poll():
            heard.append(self.ours.recv())
        return [each for each in heard if not isinstance(each, ChildBusy)]

    def updates(self, message: ToWorker) -> list[int]:
        """The play-outs behind each update that follows."""
        return [each.progress.playouts for each in self.tell(message) if isinstance(each, AdaptedWeights)]


@pytest.mark.parametrize("first_update", [4, 128])
def test_each_turn_adds_a_quarter_and_one_update(
    setup: WorkerSetup,
    simulator: Simulator,
    turns: list[SeatView],
    first_update: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adapt, "FIRST_UPDATE", first_update)
    bench = Bench(setup, simulator)
    first, second, third = turns
    assert bench.updates(first) == ([4, 16] if first_update == 4 else [16])
    assert bench.updates(first) == [], "the same turn again"
    assert bench.updates(second) == [20]
    assert bench.updates(third) == [24]
    assert bench.updates(RoundOver()) == []


def test_a_quarter_of_two_play_outs_is_none(
    setup: WorkerSetup, simulator: Simulator, turns: list[SeatView]
) -> None:
    thinking = msgspec.structs.replace(setup.thinking, playouts=2)
    few = Simulator(simulator.policy, None, thinking)
    bench = Bench(msgspec.structs.replace(setup, thinking=thinking), few)
    assert bench.updates(turns[0]) == [2]
    assert bench.updates(turns[1]) == [], "a quarter of two is none"


def test_what_was_played_out_when_the_time_ends_is_learned_from(
    setup: WorkerSetup, simulator: Simulator, turns: list[SeatView], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapt, "BATCH", 4)
    bench = Bench(msgspec.structs.replace(setup, seconds=1e-6), simulator)
    assert bench.updates(turns[0]) == [4]
    assert bench.updates(turns[1]) == []


def test_a_failure_ends_the_play_outs_of_this_turn(
    setup: WorkerSetup, simulator: Simulator, turns: list[SeatView], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(setup, simulator)
    with monkeypatch.context() as patched, capture_logs() as logs:
        patched.setattr(Adapter, "play_out", _fail)
        assert bench.updates(turns[0]) == []
    assert [each["event"] for each in logs] == ["adaptation.failed"]
    assert bench.updates(turns[1]) == [4]


def test_a_search_leaves_the_adaptation_where_it_was(
    setup: WorkerSetup, simulator: Simulator, turns: list[SeatView]
) -> None:
    """A search may be for another player's tile, from where nothing is played out."""
    bench = Bench(setup, simulator)
    first, second, _ = turns
    assert bench.updates(first) == [16]
    base = second.observation.legal[0]
    heard = bench.tell(SearchRequest(1, second, base, float("inf")))
    assert [type(each) for each in heard] == [SearchAnswer]
    assert bench.updates(second) == [20]


@pytest.mark.parametrize(("divergence", "way"), [(EAGER.divergence, "both"), (1e-13, "search")])
def test_a_search_is_of_the_adapted_policy_where_something_was_learned(
    setup: WorkerSetup, simulator: Simulator, divergence: float, way: str
) -> None:
    adaptation = msgspec.structs.replace(EAGER, divergence=divergence)
    thinking = msgspec.structs.replace(setup.thinking, adaptation=adaptation)
    bench = Bench(setup, Simulator(simulator.policy, None, thinking))
    turn = SeatView(("g", 0, 0), *teaching_turn())
    bench.tell(turn)
    (heard,) = bench.tell(SearchRequest(1, turn, turn.observation.legal[0], float("inf")))
    assert heard.improvement.way == way


def test_too_much_memory_ends_the_process(
    setup: WorkerSetup, simulator: Simulator, turns: list[SeatView], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "BEAT_S", -1.0)
    bench = Bench(msgspec.structs.replace(setup, memory_mb=1), simulator)
    with pytest.raises(MemoryError, match="more than 1 MB"):
        bench.updates(turns[0])


def _fail(*_: object) -> None:
    raise ModelError("no deals today")
