"""Rows 13 to 15: whatever the thinking process says, or fails to say, our seat plays on, and in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from structlog.testing import capture_logs

from bot.adaptation import thoughts
from bot.adaptation.adapt import AdaptedWeights
from bot.adaptation.messages import RoundOver, SeatView, WorkerSetup
from bot.adaptation.search import SearchAnswer, SearchRequest
from bot.adaptation.status import AdaptationStatus
from bot.adaptation.thoughts import Thoughts, When
from bot.player.decision_maker import SeatPrompt
from bot.player.pace import Pace
from game.actions import Action, ActionKind
from game.observation import Observation
from game.state import clone
from policies.adaptation.pmcpa import AdaptationProgress
from policies.adaptation.settings import ThinkingSettings
from policies.flow.decisions import Improvement, Option, OptionValue
from policies.flow.slots import Slot
from policies.play.decide import decide
from policies.play.inference import NetworkPolicy
from tests.bot.adaptation.made_up import MadeUpProcess
from tests.bot.bench import Bench, claim_scene
from tests.bot.fake_clock import FakeClock, settle, until
from tests.policies.models import a_policy
from tests.scene import Scene

SETUP = WorkerSetup(
    folder=Path(), thinking=ThinkingSettings(worlds=32, playouts=64), device="cpu", seconds=9.0, memory_mb=900
)


@pytest.fixture(scope="module")
def policy() -> NetworkPolicy:
    return a_policy(tower="suits")


@pytest.fixture
def start(policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Thoughts]:
    MadeUpProcess.all = []
    monkeypatch.setattr(thoughts, "Child", MadeUpProcess)

    def begin(
        clock: FakeClock | None = None,
        when: When = "always",
        setup: WorkerSetup = SETUP,
        pace: Pace = "human",
    ) -> Thoughts:
        found = Thoughts(setup, policy, 1.5, when, clock or FakeClock(), pace)
        found.start()
        found.begin_game("g")
        return found

    return begin


def process() -> MadeUpProcess:
    return MadeUpProcess.all[-1]


def prompt(scene: Scene | None = None, opened_at: float = 1000.0) -> SeatPrompt:
    scene = scene or Scene("123m456p789s112z5m").draw("9p")
    return SeatPrompt(
        clone(scene.record), 0, tuple(scene.legal()), "hanchan", prompt_id=1, opened_at=opened_at
    )


def weights(
    policy: NetworkPolicy, change: float, divergence: float = 0.01, game: str = "g"
) -> AdaptedWeights:
    """Those of a policy whose head is changed a little."""
    named = {}
    for name, array in policy.model(Slot.DISCARD).weights.arrays.items():
        named[name] = array.copy()
        if name.startswith("head"):
            named[name] += change * np.arange(array.size, dtype=np.float32).reshape(array.shape)
    progress = AdaptationProgress(64, 0.2, 0.5, divergence, 3.5, 1.0)
    return AdaptedWeights((game, 0, 0), 3, 80, progress, named)


def _crash(*_: Any) -> Any:
    raise RuntimeError("the arithmetic failed")


def values(*actions: Action) -> Improvement:
    found = [OptionValue(action, 0.4, 9.0, 1.0, 8.0, 1.0, 32) for action in actions]
    return Improvement("search", actions[-1], playouts=64, values=tuple(found))


# --- adapted policies --------------------------------------------------------------------------------


def test_an_adapted_policy_decides_and_says_what_the_policy_of_the_start_would_do(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    found, asked = start(), prompt()
    base = decide(asked, policy)
    assert found.adapted(asked, base) == base
    process().say(weights(policy, 0.02))
    adapted = found.adapted(asked, base)
    assert adapted.improvement.way == "adapted"
    assert adapted.improvement.base == base.action
    assert adapted.improvement.playouts == 64
    assert adapted.improvement.divergence > 0.0
    assert adapted.action in asked.legal
    assert adapted.options[0].action == adapted.action
    assert {each.action for each in adapted.options} == {each.action for each in base.options}
    found.round_over()
    assert found.adapted(asked, base) == base


def test_where_nothing_was_learned_the_policy_of_the_start_decides(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    """Also if something seemed to be learned earlier in the round."""
    found, asked = start(), prompt()
    base = decide(asked, policy)
    process().say(weights(policy, 0.02))
    process().say(weights(policy, 0.0, divergence=0.0))
    assert found.adapted(asked, base) == base
    assert found.dropped == {}


@pytest.mark.parametrize("fault", ["too far", "no number", "missing", "crashes"])
def test_weights_that_must_not_be_used_are_dropped(
    start: Callable[..., Thoughts], policy: NetworkPolicy, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, asked = start(), prompt()
    base = decide(asked, policy)
    sent = weights(policy, 0.02)
    if fault == "too far":
        sent = weights(policy, 0.02, divergence=0.8)
    elif fault == "no number":
        sent = weights(policy, 0.02, divergence=float("nan"))
    elif fault == "missing":
        sent.weights.popitem()
    else:
        monkeypatch.setattr(NetworkPolicy, "answer", _crash)
    with capture_logs() as logs:
        process().say(sent)
        for _ in range(3):
            assert found.adapted(asked, base) == base
    assert len([each for each in logs if each["event"] == "adaptation.dropped"]) == 1


def test_what_is_not_a_discard_of_the_models_stays(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    found = start()
    process().say(weights(policy, 0.02))
    claim = prompt(claim_scene())
    for decision in (
        decide(claim, policy),
        msgspec.structs.replace(decide(prompt(), policy), source="fallback"),
    ):
        assert found.adapted(claim, decision) == decision


# --- search ------------------------------------------------------------------------------------------


async def test_a_search_in_time_decides(start: Callable[..., Thoughts], policy: NetworkPolicy) -> None:
    clock = FakeClock()
    found, asked = start(clock), prompt()
    base = decide(asked, policy)
    better = next(each for each in asked.legal if each.kind is ActionKind.DISCARD and each != base.action)
    task = asyncio.ensure_future(found.searched(asked, base, clock.now() + 3.0))
    await settle()
    request = process().request()
    assert request.base == base.action
    process().say(SearchAnswer(request.number, values(better, base.action)))
    decision = await task
    assert decision.action == better == decision.options[0].action
    assert decision.improvement.base == base.action


@pytest.mark.parametrize(("discards", "wanted"), [(5, False), (6, True)])
async def test_early_in_a_round_nothing_is_searched(
    start: Callable[..., Thoughts], policy: NetworkPolicy, discards: int, wanted: bool
) -> None:
    thinking = msgspec.structs.replace(SETUP.thinking, from_go_around=6)
    clock = FakeClock()
    found, asked = start(clock, setup=msgspec.structs.replace(SETUP, thinking=thinking)), prompt()
    asked.record["river_size"][0] = discards
    base = decide(asked, policy)
    task = asyncio.ensure_future(found.searched(asked, base, clock.now() + 3.0))
    await settle()
    assert clock.sleeping == ([1.5] if wanted else [])
    await clock.advance(1.6)
    assert await task == base


@pytest.mark.parametrize("scene", [None, claim_scene()])
async def test_a_search_without_an_answer_takes_its_time_and_no_more(
    start: Callable[..., Thoughts], policy: NetworkPolicy, scene: Scene | None
) -> None:
    """On a claim that is the time of a pass, which tells the table nothing."""
    clock = FakeClock()
    found, asked = start(clock), prompt(scene)
    base = decide(asked, policy)
    task = asyncio.ensure_future(found.searched(asked, base, clock.now() + 3.0))
    await settle()
    assert clock.sleeping == [1.5 if scene is None else 1.0]
    request = process().request()
    await clock.advance(1.6)
    assert await task == base
    with capture_logs() as logs:
        process().say(SearchAnswer(request.number, values(base.action)))
        await settle()
    assert [each["reason"] for each in logs] == ["late"]


async def test_at_the_instant_pace_no_claim_is_searched(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    """A pass takes no time there, so one that does would tell the table that something was offered."""
    clock = FakeClock()
    found, asked = start(clock, pace="instant"), prompt(claim_scene())
    base = decide(asked, policy)
    assert await found.searched(asked, base, clock.now() + 3.0) == base
    assert not process().told


async def test_a_discard_that_a_search_prefers_to_a_riichi_is_a_discard(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    clock = FakeClock()
    found, asked = start(clock), prompt(Scene("12345m456p789s11z").draw("9p"))
    base = decide(asked, policy)
    riichi = next(each for each in asked.legal if each.kind is ActionKind.RIICHI)
    discard = next(each for each in asked.legal if each.kind is ActionKind.DISCARD)
    options = tuple(Option(each, 0.9 * (each == riichi)) for each in asked.legal)
    said_riichi = msgspec.structs.replace(base, action=riichi, step="riichi", options=options)
    task = asyncio.ensure_future(found.searched(asked, said_riichi, clock.now() + 3.0))
    await settle()
    process().say(SearchAnswer(process().request().number, values(discard, riichi)))
    decision = await task
    assert (decision.action, decision.step) == (discard, "discard")
    assert decision.probability == 0.4
    assert {each.action: each.probability for each in decision.options}[riichi] == 0.9


async def test_a_seat_answers_while_its_search_is_withdrawn(start: Callable[..., Thoughts]) -> None:
    """The prompt closes in the middle of a search; the next one is answered."""
    clock = FakeClock()
    bench = Bench(clock=clock, thoughts=start(clock))
    bench.ask()
    await until(lambda: any(isinstance(each, SearchRequest) for each in process().told))
    bench.player.withdraw(1)
    bench.ask()
    await until(lambda: process().request().number == 2)
    await bench.clock.advance(1.6)
    assert (await bench.answered(1))[0] == 2
    assert bench.player.tally.late == 0
    await bench.player.close()


# --- the process -------------------------------------------------------------------------------------


def test_a_process_that_hangs_is_replaced_once_and_the_rest_is_the_policy_alone(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    found, asked = start(), prompt()
    base = decide(asked, policy)
    with capture_logs() as logs:
        for number in (1, 2):
            assert len(MadeUpProcess.all) == number
            process().say(weights(policy, 0.02))
            assert found.adapted(asked, base).improvement
            process().hangs = True
            found.see(asked, ())
            assert MadeUpProcess.all[number - 1].closed
            assert found.adapted(asked, base) == base
        found.see(asked, ())
    assert len(MadeUpProcess.all) == 2
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == [
        "adaptation.restarted",
        "adaptation.off",
    ]


async def test_a_process_that_cannot_be_started_is_done_without(
    start: Callable[..., Thoughts], policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing_left(*_: Any) -> Any:
        raise OSError("too many open files")

    clock = FakeClock()
    found, asked = start(clock), prompt()
    base = decide(asked, policy)
    process().hangs = True
    monkeypatch.setattr(thoughts, "Child", nothing_left)
    with capture_logs() as logs:
        assert await found.searched(asked, base, clock.now() + 3.0) == base
    assert [each["event"] for each in logs] == ["adaptation.restarted", "adaptation.off"]


@pytest.mark.parametrize(
    ("when", "round_index", "scores", "wanted"),
    [
        ("always", 0, (25_000,) * 4, True),
        ("last_rounds", 5, (25_000,) * 4, False),
        ("last_rounds", 6, (60_000, 20_000, 10_000, 10_000), True),
        ("stake", 6, (60_000, 20_000, 10_000, 10_000), False),
        ("stake", 6, (30_000, 20_000, 25_000, 25_000), True),
    ],
)
def test_rounds_are_chosen(
    start: Callable[..., Thoughts], when: When, round_index: int, scores: tuple[int, ...], wanted: bool
) -> None:
    found, asked = start(when=when), prompt()
    asked.record["round_index"] = round_index
    asked.record["scores"] = scores
    found.see(Observation(asked.record, 0, asked.legal, "hanchan"), ())
    assert any(isinstance(each, SeatView) for each in process().told) == wanted
    found.round_over()
    assert isinstance(process().told[-1], RoundOver)


def test_how_adapting_goes_is_told_while_the_round_lasts(
    start: Callable[..., Thoughts], policy: NetworkPolicy
) -> None:
    found, asked = start(), prompt()
    assert found.status is None
    found.see(asked, ())
    begun = AdaptationStatus(0, 64, "global")
    assert found.status == begun
    process().say(weights(policy, 0.02, game="an earlier one"))
    assert found.status == begun
    process().say(weights(policy, 0.02))
    assert found.status == AdaptationStatus(64, 80, "global", 3.5, 1.0, used=True)
    process().say(weights(policy, 0.0, divergence=0.0))
    given_up = AdaptationStatus(64, 80, "global", 3.5, 1.0, used=False)
    assert found.status == given_up
    found.see(asked, ())
    assert found.status == given_up, "the same round"
    found.round_over()
    process().say(weights(policy, 0.02))
    assert found.status is None
    found.see(asked, ())
    process().die("it died")
    assert found.status is None


def test_a_search_alone_adapts_to_nothing(start: Callable[..., Thoughts]) -> None:
    found = start(setup=msgspec.structs.replace(SETUP, thinking=ThinkingSettings(worlds=32)))
    found.see(prompt(), ())
    assert found.status is None
    assert process().told == []
