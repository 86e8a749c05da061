"""Faults 11, 12, 15 and 27: a decision that is late, fails, loses its worker, or is one of too many."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from game.actions import ActionKind
from policies.heuristic.player import HeuristicPolicy
from tests.bot.bench import Bench, Stub, claim_scene
from tests.bot.fake_clock import until
from tests.scene import Scene


def names(logs: Sequence[Any]) -> list[str]:
    return [entry["event"] for entry in logs]


class Gate:
    """A step of a policy that blocks until the gate is opened."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.entered = 0

    def __call__(self, _: object) -> None:
        self.entered += 1
        self.event.wait()


# --- fault 11: over budget ------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", [None, claim_scene()], ids=["turn", "claim"])
async def test_fault_11_a_decision_over_budget_is_answered_before_the_deadline(scene: Scene | None) -> None:
    gate = Gate()
    bench = Bench(Stub(gate), budget_ms=3000)
    with capture_logs() as logs:
        prompt = bench.ask(scene)
        await until(lambda: gate.entered)
        await bench.clock.advance(2.69)
        assert not bench.replies
        await bench.clock.advance(0.02)
        _, action = await bench.answered()
        assert action in prompt.legal
        assert bench.clock.now() - prompt.opened_at < 3.0
        (made,) = bench.player.decisions
        assert (bench.player.tally.fallbacks, bench.player.tally.late) == (1, 1)
        # the late result is identified by its number, dropped and logged; the next prompt has its own
        second = bench.ask(claim_scene())
        gate.event.set()
        await until(lambda: "decision.late" in names(logs))
        _, action = await bench.answered()
        assert action in second.legal
    assert [prompt_id for prompt_id, _ in bench.replies] == [1, 2]
    assert names(logs).count("decision.fallback") == 1
    assert made.fallback
    assert made.late
    assert "2700 ms" in made.decision.fallback_reason
    await bench.player.close()


async def test_fault_11_the_rules_hanging_too_ends_in_tsumogiri_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    monkeypatch.setattr(HeuristicPolicy, "answer", lambda *_: gate(None))
    bench = Bench(Stub(gate))
    prompt = bench.ask()
    await until(lambda: gate.entered == 1)
    await bench.clock.advance(2.71)
    await until(lambda: gate.entered == 2)
    await bench.clock.advance(0.3)
    _, action = await bench.answered()
    assert action.kind is ActionKind.DISCARD
    assert action.tile == int(prompt.record["drawn"])
    assert bench.player.tally.late == 1
    gate.event.set()
    await bench.player.close()


# --- fault 12: crash, NaN, empty mask, illegal choice ------------------------------------------------------


async def test_fault_12_after_k_failures_the_rules_play_the_rest_of_the_game() -> None:
    def fail(_: object) -> None:
        raise RuntimeError("weights are gone")

    bench = Bench(Stub(fail), failures=3)
    for _ in range(5):
        bench.ask()
        await bench.answered()
    assert bench.policy.asked == 3  # type: ignore[attr-defined]
    assert all(made.fallback for made in bench.player.decisions)
    # the next game uses the policy again
    bench.policy.act = None  # type: ignore[attr-defined]
    bench.player.begin_game("h")
    bench.ask()
    await bench.answered()
    assert bench.loads == 2
    assert bench.player.decisions[-1].decision.source == "model"
    await bench.player.close()


async def test_fault_12_a_choice_outside_the_legal_actions_never_goes_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    foreign = claim_scene().legal()[0]

    def outside(*args: Any, **kwargs: Any) -> Any:
        from policies.flow.decisions import Decision, Option

        return Decision(foreign, "model", "call", (Option(foreign, 1.0),), 0, 0.0)

    monkeypatch.setattr("bot.player.decision_maker.decide_strictly", outside)
    prompt = bench.ask()
    _, action = await bench.answered()
    assert action != foreign
    assert action in prompt.legal
    await bench.player.close()


# --- fault 15: the worker dies or hangs --------------------------------------------------------------------


async def test_fault_15_a_hung_worker_is_restarted_once_then_the_rules_play() -> None:
    gate = Gate()
    bench = Bench(Stub(gate), failures=100)
    threads = threading.active_count()
    with capture_logs() as logs:
        for _ in range(4):
            bench.ask()
            replied = len(bench.replies)
            entered = gate.entered
            await until(lambda e=entered, r=replied: gate.entered > e or len(bench.replies) > r)
            await bench.clock.advance(2.71)
            await bench.answered()
    assert gate.entered == 2  # the first worker and its only successor
    assert names(logs).count("decision.worker_restarted") == 1
    assert len(bench.replies) == 4
    assert bench.player.tally.late == 2  # the next two did not wait at all
    assert threading.active_count() <= threads + 2
    gate.event.set()
    await bench.player.close()


async def test_fault_15_what_still_computes_is_waited_for_before_the_program_ends() -> None:
    gate = Gate()
    bench = Bench(Stub(gate))
    bench.ask()
    await until(lambda: gate.entered == 1)
    await bench.clock.advance(2.71)  # abandoned
    await bench.answered()
    bench.ask()
    await until(lambda: gate.entered == 2)
    await bench.player.close()
    assert not bench.player.join(timeout_s=0.05)
    gate.event.set()
    assert bench.player.join(timeout_s=60.0)


async def test_fault_15_a_dead_worker_is_restarted_once_a_game_then_the_rules_play() -> None:
    def die(_: object) -> None:
        raise SystemExit(1)

    bench = Bench(Stub(die), failures=100)
    asked = 0
    for game in range(2):
        bench.player.begin_game(str(game))
        with capture_logs() as logs:
            for _ in range(4):
                prompt = bench.ask()
                _, action = await bench.answered()
                assert action in prompt.legal
        asked += 2 - game  # the worker that died last in the first game is dead when the second begins
        assert bench.policy.asked == asked  # type: ignore[attr-defined]
        assert names(logs).count("decision.worker_restarted") == 1
    await bench.player.close()


async def test_fault_15_no_worker_is_left_when_the_seat_closes() -> None:
    before = set(threading.enumerate())
    gate = Gate()
    bench = Bench(Stub(gate))
    bench.ask()
    await until(lambda: gate.entered)
    await bench.player.close()
    gate.event.set()  # even the blocked one ends once it can; as a daemon it would not keep the process alive
    await until(lambda: set(threading.enumerate()) <= before)


# --- fault 27: more prompts than can be answered -----------------------------------------------------------


async def test_fault_27_a_flood_of_prompts_drops_the_oldest_and_keeps_no_backlog() -> None:
    gate = Gate()
    stub = Stub(gate)
    bench = Bench(stub)
    for _ in range(1000):
        bench.ask()
    await until(lambda: gate.entered == 1)
    for _ in range(1000):
        bench.ask()
    gate.event.set()
    await bench.answered(1)
    assert [prompt_id for prompt_id, _ in bench.replies] == [2000]
    assert stub.asked <= 3
    await bench.player.close()
