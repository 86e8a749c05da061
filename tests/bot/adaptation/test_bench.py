"""`suzaku bench adaptation`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.adaptation.bench import AdaptationBench, TimedLesson, bench_adaptation
from bot.adaptation.messages import WorkerSetup
from bot.measurements import print_adaptation
from game.errors import ModelError
from policies.thinking import ThinkingSettings
from tests.bot.adaptation.hurried import hurried
from tests.policies.models import EAGER, save_models


def setup_of(folder: Path) -> WorkerSetup:
    thinking = ThinkingSettings(playouts=16, sampler="uniform", reward="points", adaptation=EAGER)
    return WorkerSetup(folder=folder, thinking=thinking, device="cpu", seconds=60.0, memory_mb=4000)


def test_every_hand_is_timed(tmp_path: Path) -> None:
    with hurried():
        bench = bench_adaptation(setup_of(save_models(tmp_path, tower="suits")), hands=2, seed=0)
    (lesson,) = bench.lessons
    assert lesson.playouts == 16
    assert len(lesson.seconds) == 2
    assert all(0.0 < seconds < 300.0 for seconds in lesson.seconds)


def test_a_process_that_cannot_adapt_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="lost: "):
        bench_adaptation(setup_of(tmp_path), hands=1, seed=0)


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lessons = (TimedLesson(128, (2.0, 3.0)), TimedLesson(1000, (9.0, 11.0)))
    bench = AdaptationBench("a machine", 2, "diffusion", lessons)
    assert print_adaptation(bench, as_json=False) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "a machine; 2 cores; sampler: diffusion"
    assert shown[1] == "100 rounds a second, learning included"
    assert shown[3].split() == ["128", "2.5", "2.0", "3.0"]
    print_adaptation(bench, as_json=True)
    assert json.loads(capsys.readouterr().out)["lessons"][1]["seconds"] == [9.0, 11.0]
