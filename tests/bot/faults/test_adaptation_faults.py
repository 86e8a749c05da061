"""Rows 14 and 15: the thinking process says wrong things all through a game, and is lost twice."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from bot.adaptation.adapt import AdaptedWeights
from bot.adaptation.messages import SeatView, WorkerSetup
from bot.adaptation.search import SearchAnswer, SearchRequest
from bot.adaptation.status import AdaptationStatus
from bot.adaptation.thoughts import FromWorker, Thoughts, ToWorker
from bot.dashboard.feed import Adapting, Feed
from bot.play.run import PlayRun
from bot.player.clock import MonotonicClock
from bot.tenhou.names import GUEST
from game.actions import Action, ActionKind
from kit.workers.child import ChildReady
from policies.adaptation.pmcpa import AdaptationProgress
from policies.adaptation.settings import ThinkingSettings
from policies.flow.decisions import Improvement, OptionValue
from policies.flow.slots import Slot
from policies.play.inference import load_policy
from tests.bot.adaptation.made_up import MadeUpProcess
from tests.bot.dashboard.scenes import config_of
from tests.policies.models import save_models

SEARCHES = 8
"""Answered before the process dies."""
SEARCH_S = 0.25
"""Of a search; what is said at once is there long before."""


class WrongProcess(MadeUpProcess):
    """Answers everything wrongly and at once, then dies."""

    def __init__(
        self,
        life: Any,
        setup: WorkerSetup,
        on_message: Callable[[FromWorker | ChildReady], None],
        on_end: Callable[[str], None],
    ) -> None:
        super().__init__(life, setup, on_message, on_end)
        self._sound = dict(load_policy(setup.folder).model(Slot.DISCARD).weights.arrays)
        self._views = self._searches = 0
        on_message(ChildReady())

    def send(self, message: ToWorker) -> None:
        if isinstance(message, SeatView):
            self._views += 1
            self.say(self._weights(message))
        elif isinstance(message, SearchRequest):
            self._searches += 1
            self._answer(message)
            if self._searches == SEARCHES:
                self.die("it dies")

    def _weights(self, message: SeatView) -> AdaptedWeights:
        """Of an old round, not finite, far away, or sound."""
        key, weights = message.key, self._sound
        if self._views % 4 == 1:
            key = ("another game", 0, 0)
        elif self._views % 4 == 2:
            weights = {name: np.full_like(array, np.nan) for name, array in self._sound.items()}
        elif self._views % 4 == 3:
            weights = {name: 100.0 * array for name, array in self._sound.items()}
        return AdaptedWeights(key, 0, 64, AdaptationProgress(64, 0.2, 0.5, 0.01, 0.0, 0.0), weights)

    def _answer(self, message: SearchRequest) -> None:
        """With an option that is not there, after an answer to the last request; every fourth not at all."""
        stolen = OptionValue(Action(ActionKind.ANKAN, consumed=(0, 1, 2, 3)), 0.5, 9.0, 1.0, 9.0, 1.0, 32)
        found = Improvement("search", message.base, values=(stolen,))
        if self._searches % 4:
            for number in (message.number - 1, message.number):
                self.say(SearchAnswer(number, found))


@pytest.fixture
def thoughts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Thoughts]:
    monkeypatch.setattr("bot.adaptation.thoughts.Child", WrongProcess)
    folder = save_models(tmp_path / "models", tower="suits")
    thinking = ThinkingSettings(worlds=32, playouts=64, reward="points")
    setup = WorkerSetup(folder=folder, thinking=thinking, device="cpu", seconds=9.0, memory_mb=900)
    found = Thoughts(setup, load_policy(folder), SEARCH_S, "always", MonotonicClock(), "human")
    found.start()
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
