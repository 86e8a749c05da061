"""`suzaku bench adaptation`."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adaptation.bench import bench_adaptation
from bot.adaptation.messages import WorkerSetup
from kit.errors import ModelError
from policies.adaptation.thinking import ThinkingSettings
from tests.bot.child_here import ChildHere
from tests.policies.models import EAGER, save_models


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adaptation.bench.Child", ChildHere)


def setup_of(folder: Path) -> WorkerSetup:
    thinking = ThinkingSettings(playouts=16, sampler="uniform", reward="points", adaptation=EAGER)
    return WorkerSetup(folder=folder, thinking=thinking, device="cpu", seconds=60.0, memory_mb=100_000)


def test_every_hand_is_timed(tmp_path: Path) -> None:
    bench = bench_adaptation(setup_of(save_models(tmp_path, tower="suits")), hands=2, seed=0)
    (lesson,) = bench.lessons
    assert lesson.playouts == 16
    assert len(lesson.seconds) == 2
    assert all(seconds > 0.0 for seconds in lesson.seconds)


def test_a_process_that_cannot_adapt_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="lost: "):
        bench_adaptation(setup_of(tmp_path), hands=1, seed=0)
