"""The thinking process itself: it searches and adapts, and it can be killed, stopped and forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.adaptation.messages import WorkerSetup
from bot.adaptation.thoughts import Thoughts
from bot.player.clock import MonotonicClock
from bot.player.decision_maker import SeatPrompt
from kit.workers import child
from policies.adaptation.settings import ThinkingSettings
from policies.flow.decisions import Decision
from policies.play.decide import decide
from policies.play.inference import NetworkPolicy, load_policy
from tests.bot.adaptation.turns import teaching_turn
from tests.bot.fake_clock import until
from tests.policies.models import EAGER, save_models

START_S = 400.0
"""Under load a process needs long to load torch and the kernels, and to end."""


@pytest.fixture
def idle() -> Iterator[set[int]]:
    """Meanwhile, a child that takes only idle time is let go on like others, where that is allowed.

    Yields:
        The children that took only idle time, as they are found.
    """
    found: set[int] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            for pid in _children():
                with contextlib.suppress(OSError):
                    if os.sched_getscheduler(pid) == os.SCHED_IDLE:
                        found.add(pid)
                        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield found
    finally:
        over.set()
        looking.join()


def _children() -> list[int]:
    found: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it may have ended
            found += map(int, (thread / "children").read_text().split())
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_models(tmp_path_factory.mktemp("models"), tower="suits")


@pytest.fixture
def thoughts(folder: Path, idle: set[int]) -> Iterator[Thoughts]:
    thinking = ThinkingSettings(worlds=16, playouts=32, sampler="uniform", reward="points", adaptation=EAGER)
    setup = WorkerSetup(folder=folder, thinking=thinking, device="cpu", seconds=60.0, memory_mb=4000)
    found = Thoughts(setup, load_policy(folder), 60.0, "always", MonotonicClock(), "human")
    found.start()
    assert found.process is not None and found.process.ready.wait(START_S)
    found.begin_game("g")
    yield found
    found.close()


def last_prompt() -> SeatPrompt:
    """The last discard of a round, about which there is something to learn."""
    seen, events = teaching_turn()
    return SeatPrompt(
        seen.record,
        seen.player,
        seen.legal,
        seen.length,
        prompt_id=1,
        opened_at=MonotonicClock().now(),
        events=events,
    )


@pytest.mark.slow
async def test_it_adapts_searches_and_survives_being_killed_and_stopped_once(
    thoughts: Thoughts, idle: set[int], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy: NetworkPolicy = load_policy(folder)
    asked = last_prompt()
    base = decide(asked, policy)

    async def search() -> Decision:
        fresh = last_prompt()
        return await thoughts.searched(fresh, base, fresh.opened_at + 60.0)

    thoughts.see(asked, asked.events)
    await until(lambda: thoughts.adapted(asked, base).improvement, tries=60_000)
    adapted = thoughts.adapted(asked, base)
    assert adapted.improvement.playouts == 32
    found = await search()
    assert found.improvement.way == "both"
    assert found.improvement.playouts >= 32

    running = thoughts.process
    assert running.pid is not None
    assert running.pid in idle, "it makes the game wait"

    with capture_logs() as logs:
        os.kill(running.pid, signal.SIGKILL)
        await until(lambda: thoughts.process not in (None, running), tries=60_000)
        assert thoughts.process is not None and thoughts.process.ready.wait(START_S)
        assert (await search()).improvement is not None

        # stopped, it has work and says nothing: the program gives up on it
        monkeypatch.setattr(child, "SILENT_S", 0.2)
        second = thoughts.process
        assert second.pid is not None
        os.kill(second.pid, signal.SIGSTOP)
        thoughts.see(asked, asked.events)
        await asyncio.sleep(0.3)
        assert await search() == base
        assert second.join(START_S)
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == [
        "adaptation.restarted",
        "adaptation.off",
    ]
    with pytest.raises(ProcessLookupError):
        os.kill(second.pid, 0)
