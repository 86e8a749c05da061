from __future__ import annotations

import contextvars
import random

import pytest
from structlog.testing import capture_logs

from bot.player.pace import PASS_DELAY_S, action_delay_s, ready_delay_s
from bot.player.worker import WorkerThread
from game.actions import PASS, RIICHI, Action, ActionKind
from kit.errors import LocalProtocolError
from tests.bot.bench import Bench, Stub, claim_scene
from tests.bot.fake_clock import until
from tests.scene import Scene

name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="")


def test_human_delays_are_those_people_are_used_to_and_a_pass_always_takes_the_same_time() -> None:
    rng = random.Random(1)
    for _ in range(200):
        assert 0.5 <= action_delay_s("human", Action(ActionKind.DISCARD, 5), rng) <= 1
        assert 1 <= action_delay_s("human", Action(ActionKind.RON, 5), rng) <= 2
        assert 1 <= action_delay_s("human", RIICHI, rng) <= 2
        assert 3 <= ready_delay_s("human", rng) <= 5
        assert action_delay_s("human", PASS, rng) == PASS_DELAY_S


async def test_human_pace_waits_and_an_answer_is_not_sent_early() -> None:
    bench = Bench(pace="human")
    bench.ask()
    await until(lambda: len(bench.clock.sleeping) == 1 and 0.5 <= bench.clock.sleeping[0] <= 1)
    assert not bench.replies
    await bench.clock.advance(1.0)
    await bench.answered()
    # the pace's deliberate delay does not count as latency
    assert bench.player.tally.percentile_ms(99) < 1
    await bench.player.close()


async def test_an_answer_the_session_no_longer_wants_is_late_and_nothing_breaks() -> None:
    bench = Bench()

    def stale(prompt_id: int, action: Action) -> None:
        raise LocalProtocolError("prompt 1 is over")

    bench.reply = stale  # type: ignore[method-assign]
    with capture_logs() as logs:
        bench.ask()
        await until(lambda: bench.player.tally.late == 1)
    assert [entry["event"] for entry in logs] == ["decision.late"]
    assert bench.player.tally.decisions == 0
    assert not bench.player.decisions
    await bench.player.close()


@pytest.mark.parametrize(("takes_s", "asked"), [(0.0, 4), (0.5, 2)])
async def test_a_slow_policy_is_asked_for_its_decision_only(takes_s: float, asked: int) -> None:
    """The rest is for people to see, and may cost no decision its time."""
    stub = Stub(lambda _: bench.clock.jump(takes_s))
    bench = Bench(stub, budget_ms=3000)
    bench.ask(Scene("123m456p789s1155z").draw("2z"))
    await bench.answered()
    assert stub.asked == asked
    assert bool(bench.player.decisions[0].decision.later) == (takes_s == 0.0)
    await bench.player.close()


async def test_a_repeated_question_is_recorded_once() -> None:
    bench = Bench()
    bench.ask()
    await bench.answered()
    bench.ask()  # the same again, as after a reconnect
    await bench.answered()
    assert len(bench.player.decisions) == 1
    bench.ask(claim_scene())
    await bench.answered()
    assert len(bench.player.decisions) == 2
    await bench.player.close()


async def test_log_context_follows_the_work_onto_its_thread() -> None:
    worker = WorkerThread("t")
    name.set("game-1")
    assert await worker.submit(name.get) == "game-1"
    worker.close()
