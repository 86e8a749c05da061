from __future__ import annotations

import threading

from structlog.testing import capture_logs

from game.actions import PASS, Action
from kit.errors import LocalProtocolError
from policies.heuristic.player import HeuristicPolicy
from tests.bot.bench import Bench, Stub, claim_scene
from tests.bot.fake_clock import until


async def test_a_prompt_is_answered_by_the_policy_from_its_legal_actions() -> None:
    bench = Bench()
    with capture_logs() as logs:
        prompt = bench.ask()
        prompt_id, action = await bench.answered()
    assert prompt_id == 1
    assert action in prompt.legal
    made = [entry for entry in logs if entry["event"] == "decision.made"]
    assert len(made) == 1
    assert made[0]["source"] == "model"
    assert made[0]["game_id"] == "g"
    assert {"action", "probability", "top", "shanten", "latency_ms", "budget_ms"} <= made[0].keys()
    assert len(made[0]["top"]) == 3
    [record] = bench.player.decisions
    assert record.decision.budget_ms == 3000
    assert not record.fallback
    assert not record.late
    assert (bench.player.tally.decisions, bench.player.tally.fallbacks, bench.player.tally.late) == (1, 0, 0)
    await bench.player.close()


async def test_the_heuristic_answers_a_claim() -> None:
    bench = Bench(HeuristicPolicy())
    prompt = bench.ask(claim_scene())
    _, action = await bench.answered()
    assert action in prompt.legal
    assert PASS in prompt.legal
    await bench.player.close()


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


async def test_a_withdrawn_prompt_is_not_answered() -> None:
    gate = threading.Event()
    bench = Bench(Stub(lambda _: gate.wait() and None))
    with capture_logs() as logs:
        bench.ask()
        await until(lambda: bench.policy.asked == 1)  # type: ignore[attr-defined]
        bench.player.withdraw(99)  # another prompt: nothing happens
        bench.player.withdraw(1)
        gate.set()
        await until(lambda: any(entry["event"] == "decision.late" for entry in logs))
    assert not bench.replies
    await bench.player.close()


async def test_a_newer_prompt_takes_the_place_of_an_older_one() -> None:
    gate = threading.Event()
    bench = Bench(Stub(lambda _: gate.wait() and None))
    for _ in range(50):
        bench.ask()
    gate.set()
    await bench.answered(1)
    assert [prompt_id for prompt_id, _ in bench.replies] == [50]
    assert bench.policy.asked <= 2  # type: ignore[attr-defined]
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


async def test_the_policy_is_loaded_once_and_again_after_a_game_with_failures() -> None:
    bench = Bench(Stub())
    bench.ask()
    await bench.answered()
    bench.player.begin_game("h")
    bench.ask()
    await bench.answered()
    assert bench.loads == 1
    bench.policy.act = lambda questions: [[float("nan")] * len(q.options) for q in questions]  # type: ignore[attr-defined]
    bench.ask()
    await bench.answered()
    bench.player.begin_game("i")
    bench.ask()
    await bench.answered()
    assert bench.loads == 2
    await bench.player.close()


async def test_closing_leaves_no_thread_and_no_task() -> None:
    before = set(threading.enumerate())
    bench = Bench()
    bench.ask()
    await bench.answered()
    await bench.player.close()
    await until(lambda: set(threading.enumerate()) <= before)


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
