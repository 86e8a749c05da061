"""Rows 14 and 15: the thinking process says wrong things all through a game, and is lost twice."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from bot.adaptation.adapt import AdaptedWeights
from bot.adaptation.messages import SeatView, WorkerSetup
from bot.adaptation.search import SearchAnswer, SearchRequest
from bot.adaptation.status import AdaptationStatus
from bot.adaptation.thoughts import Thoughts
from bot.dashboard.feed import Adapting, Feed
from bot.play.run import PlayRun
from bot.player.clock import MonotonicClock
from bot.tenhou.names import GUEST
from game.actions import Action, ActionKind
from kit.errors import ModelError
from kit.workers.child import Line
from policies.adaptation.pmcpa import AdaptationProgress
from policies.adaptation.settings import ThinkingSettings
from policies.flow.decisions import Improvement, OptionValue
from policies.flow.slots import Slot
from policies.play.inference import load_policy
from tests.bot.child_here import ChildHere
from tests.bot.dashboard.scenes import config_of
from tests.policies.models import save_models

SEARCHES = 8
"""Answered before the process dies."""


def serve_badly(line: Line, setup: WorkerSetup) -> None:
    """Answer everything wrongly, then die."""
    line.ready()
    sound = dict(load_policy(setup.folder).model(Slot.DISCARD).weights.arrays)
    answered = 0
    while answered < SEARCHES:
        for message in line.hear(wait=True):
            if isinstance(message, SeatView):
                line.send(_weights(message, sound, answered))
            elif isinstance(message, SearchRequest):
                answered += 1
                line.send(_answer(message, answered))
    raise ModelError("it dies")


def _weights(message: SeatView, sound: dict[str, np.ndarray], turn: int) -> AdaptedWeights:
    """Of an old round, not finite, far away, or sound."""
    key, weights = message.key, sound
    if turn % 4 == 0:
        key = ("another game", 0, 0)
    elif turn % 4 == 1:
        weights = {name: np.full_like(array, np.nan) for name, array in sound.items()}
    elif turn % 4 == 2:
        weights = {name: 100.0 * array for name, array in sound.items()}
    return AdaptedWeights(key, 0, 64, AdaptationProgress(64, 0.2, 0.5, 0.01, 0.0, 0.0), weights)


def _answer(message: SearchRequest, number: int) -> SearchAnswer:
    """Too late, to another request, or with an option that is not there."""
    if number % 3 == 0:
        time.sleep(0.06)
    stolen = OptionValue(Action(ActionKind.ANKAN, consumed=(0, 1, 2, 3)), 0.5, 9.0, 1.0, 9.0, 1.0, 32)
    asked = message.number - 1 if number % 3 == 1 else message.number
    return SearchAnswer(asked, Improvement("search", message.base, values=(stolen,)))


@pytest.fixture
def thoughts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Thoughts]:
    monkeypatch.setattr("bot.adaptation.thoughts.Child", ChildHere)
    folder = save_models(tmp_path / "models", tower="suits")
    thinking = ThinkingSettings(worlds=32, playouts=64, reward="points")
    setup = WorkerSetup(folder=folder, thinking=thinking, device="cpu", seconds=9.0, memory_mb=900)
    found = Thoughts(setup, load_policy(folder), 0.05, "always", MonotonicClock(), "human", serve_badly)
    found.start()
    assert found.process is not None and found.process.ready.wait(300.0)
    yield found
    found.close()


def test_fault_14_wrong_late_and_old_results_change_nothing_and_fault_15_a_lost_process_ends_no_game(
    thoughts: Thoughts, tmp_path: Path
) -> None:
    policy = load_policy(tmp_path / "models")
    began, clock = time.monotonic(), MonotonicClock()
    feed = Feed()
    run = PlayRun(
        config_of(tmp_path), GUEST, None, lambda: policy, began, clock, feed=feed, thoughts=thoughts
    )
    with capture_logs() as logs:
        asyncio.run(run.play())
        run.close()
    result = run.result()
    assert result.exit_code == 0
    assert len(result.games) == 1
    assert (result.decisions.fallbacks, result.decisions.late) == (0, 0)
    assert result.decisions.count > 3 * SEARCHES
    stood = [item.status for item in feed.take() if isinstance(item, Adapting)]
    assert AdaptationStatus(0, 64, "points") in stood, "a round begins"
    assert AdaptationStatus(64, 64, "points", used=True) in stood, "sound weights"
    assert None in stood, "a round ends"
    reasons = " ".join(thoughts.dropped)
    for reason in ("an old round", "not finite", "not legal", "late", "nats from the initial policy"):
        assert reason in reasons
    told = Counter(each["event"] for each in logs)
    assert told["adaptation.restarted"] == told["adaptation.ready"] == told["adaptation.off"] == 1
    assert told["adaptation.dropped"] == len(thoughts.dropped)
