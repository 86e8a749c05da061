"""The commands that measure self-play learning: noise of the gradient, and speed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from bot import cli
from learning.reinforcement import comparison, noise
from learning.reinforcement.noise import equal_block
from learning.reinforcement.plan import ReinforcementPlan
from tests.learning.reinforcement.setting import save_start


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


@pytest.mark.parametrize("games", [20.0, 500.0])
def test_the_block_in_which_noise_equals_signal_is_found(games: float) -> None:
    """Groups of 100 games around a known gradient, with noise of a known length."""
    dice = np.random.default_rng(0)
    signal = dice.normal(size=1_000)
    signal /= np.linalg.norm(signal)
    group = np.sqrt(games / 100.0 / 1_000.0)  # deviation of one weight of a group's gradient
    gradients = signal + group * dice.normal(size=(64, 1_000))
    share, found = equal_block(gradients @ gradients.T, 100.0)
    assert found == pytest.approx(games, rel=0.15)
    assert share == pytest.approx(1.0 / (1.0 + games / 100.0), rel=0.15)


def test_no_signal_needs_an_infinite_block() -> None:
    assert equal_block(np.array([[1.0, -0.5], [-0.5, 1.0]]), 8.0) == (-0.5, np.inf)


def test_the_noise_of_the_gradient_is_measured_and_printed(
    start: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)

    def shorter(**settings: object) -> ReinforcementPlan:
        return ReinforcementPlan(**settings, length="tonpuu")  # type: ignore[arg-type]

    monkeypatch.setattr(noise, "ReinforcementPlan", shorter)
    args = ["eval", "gradient", "--start", str(start), "--games", "8", "--groups", "4", "--taught", "2"]
    args += ["--blocks", "1", "--temperature", "0.5", "--workers", "1", "--json"]
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [(each["reward"], each["baseline"]) for each in found["variants"]] == [
        ("points", "none"),
        ("points", "critic"),
        ("global", "none"),
        ("global", "critic"),
        ("global", "oracle"),
    ]
    assert all(each["explained"] == 0.0 for each in found["variants"] if each["baseline"] == "none")
    for each in found["variants"]:
        # the rewards of a few games are noise, which the entropy is the least part of
        assert each["held"]["signal"] == pytest.approx(each["whole"]["signal"], abs=0.2)
        assert each["held"] != each["whole"]
    assert (found["games"], found["temperature"], found["blocks"]) == (8, 0.5, 1)


def test_what_a_critic_says_of_discards_is_measured_and_printed(start: Path) -> None:
    args = ["eval", "credit", "--start", str(start), "--games", "4", "--taught", "2", "--block-games", "2"]
    result = CliRunner().invoke(cli.app, [*args, "--min-p", "0.5", "--workers", "1", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["games"], found["taught"], found["min_p"]) == (4, 2, 0.5)
    told = {(each["situation"], each["source"]): each for each in found["told"]}
    assert len(told) == 15
    parts = [told[situation, "critic"]["decisions"] for situation in ("all", "against riichi", "no riichi")]
    assert parts[0] == parts[1] + parts[2] > 100
    assert parts[0] == sum(told[f"critic {says}", "critic"]["decisions"] for says in ("agrees", "disagrees"))
    assert all(each["points_error"] > 0.0 for each in told.values() if each["decisions"])
    shown = CliRunner().invoke(cli.app, [*args, "--min-p", "0.5", "--workers", "1"])
    assert "critic beyond own" in shown.output


def test_what_a_source_tells_is_found() -> None:
    """Of rewards in which own scores are worth 2 a deviation, and a critic that shares them 3 beyond that."""
    dice = np.random.default_rng(0)
    games = []
    for _ in range(400):
        own, new = dice.normal(size=(2, 50))
        said = np.stack([own, 0.5 * own + new])
        points = 2.0 * own + 3.0 * new + dice.normal(size=50)
        outcomes = np.stack([points, -points])
        size = np.array([50.0, 0.0, 50.0, 50.0, 50.0])
        some = np.array([1.0, 0.0, 1.0, 1.0, 1.0])[:, None, None]
        games.append(comparison.GameSums(size, some * (said @ said.T), some * (said @ outcomes.T)))
    told = {(each.situation, each.source): each for each in comparison.told_of(games)}
    assert told["all", "own scores"].points == pytest.approx(2.0, abs=0.1)
    assert told["all", "critic beyond own"].points == pytest.approx(3.0, abs=0.1)
    assert told["all", "critic beyond own"].final == pytest.approx(-3.0, abs=0.1)
    assert told["all", "critic"].points == pytest.approx((1.0 + 3.0) / np.sqrt(1.25), abs=0.1)
    assert 0.01 < told["all", "critic"].points_error < 0.05
    assert told["against riichi", "critic"].decisions == 0


def test_the_speed_of_learning_is_measured_and_printed(start: Path) -> None:
    args = ["bench", "rl", "--start", str(start), "--games", "1", "--workers", "1", "--json"]
    result = CliRunner().invoke(cli.app, [*args, "--baseline", "none", "--learner-precision", "bf16"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["precision"], found["baseline"]) == ("bf16", "none")
    (speed,) = found["speeds"]
    assert speed["workers"] == 1
    for name in ("played_per_s", "learned_per_s", "decisions_per_s", "both_per_s", "paper_days"):
        assert speed[name] > 0.0, name
