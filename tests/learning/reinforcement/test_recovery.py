"""Weakening a policy on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from bot import cli
from learning.reinforcement import evaluation
from learning.reinforcement.recovery import RecoveryReport, noisy
from policies.checkpoint import load, models_in
from policies.checkpoint.card import MODELS
from tests.learning.reinforcement.setting import save_start


def test_noise_grows_with_its_scale_and_leaves_the_statistics_alone() -> None:
    weights = {"layer": torch.randn(64, 64), "norm.running_mean": torch.randn(64)}
    small, large = (noisy(weights, scale, seed=1) for scale in (0.1, 0.2))
    moved = small["layer"] - weights["layer"]
    assert float(moved.std() / weights["layer"].std()) == pytest.approx(0.1, rel=0.05)
    torch.testing.assert_close(2.0 * moved, large["layer"] - weights["layer"], atol=1e-5, rtol=1e-4)
    assert torch.equal(small["norm.running_mean"], weights["norm.running_mean"])


def cache_of_one(real: Callable[..., Any]) -> Callable[..., Any]:
    found: list[Any] = []

    def cached(*args: Any, **how: Any) -> Any:
        if not found:
            found.append(real(*args, **how))
        return found[0]

    return cached


def test_the_report_says_what_share_was_won_back() -> None:
    report = RecoveryReport(
        games=100,
        evaluation_games=40,
        agreement=0.8,
        weak=-8.0,
        weak_placement=2.7,
        recovered=-2.0,
        recovered_placement=2.55,
    )
    assert "75% won back" in report.text


@pytest.mark.slow
def test_the_command_weakens_learns_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    # one comparison is played, and all have its result: each takes seconds to start
    monkeypatch.setattr(evaluation, "run", cache_of_one(evaluation.run))
    start = save_start(tmp_path / "start")
    out = tmp_path / "out"
    args = [
        "train",
        "rl-check",
        "--start",
        str(start),
        "--out",
        str(out),
        "--games",
        "1",
        "--block-games",
        "1",
    ]
    args += ["--evaluation-games", "4", "--workers", "1", "--json"]
    result = CliRunner().invoke(cli.app, args)
    found = json.loads(result.stdout)
    assert found["evaluation_games"] == 4
    assert 0.75 < found["agreement"] <= 0.8
    assert result.exit_code == 1  # with one result for all, nothing is won back
    assert found["recovered"] == found["weak"]
    weak = load(out / "weak", "discard").card
    assert set(models_in(out / "weak")) == set(MODELS)
    assert weak.parents == (load(start, "discard").card.tensors.sha256,)
    assert load(out / "run", "discard").card.parents == (weak.tensors.sha256,)
