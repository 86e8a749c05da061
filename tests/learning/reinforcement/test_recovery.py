"""Weakening a policy on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from bot import cli
from learning.reinforcement import evaluation
from learning.reinforcement.recovery import RecoveryReport, spoiled_choices
from policies.checkpoint import load, models_in
from policies.checkpoint.card import MODELS
from tests.learning.reinforcement.setting import save_start


def test_the_second_choice_is_taken_after_one_draw_in_five() -> None:
    logits = np.zeros((4, 34), np.float32)
    logits[:, [3, 5, 7]] = [1.0, 3.0, 2.0]
    legal = np.zeros((4, 34), np.bool_)
    legal[:, [3, 5, 7]] = True
    legal[3, 5] = False
    drawn = np.array([4 * 1, 4 * 6 + 2, -1, 4 * 32], np.int16)
    assert spoiled_choices(logits, legal, drawn).tolist() == [5, 7, 5, 3]


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
    assert 0.6 < found["agreement"] < 0.95
    assert result.exit_code == 1  # with one result for all, nothing is won back
    assert found["recovered"] == found["weak"]
    weak = load(out / "weak", "discard").card
    assert set(models_in(out / "weak")) == set(MODELS)
    assert weak.parents == (load(start, "discard").card.tensors.sha256,)
    assert load(out / "run", "discard").card.parents == (weak.tensors.sha256,)
