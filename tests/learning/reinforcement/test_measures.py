"""The commands that measure self-play learning: noise of the gradient, and speed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from typer.testing import CliRunner

from bot import cli
from learning.reinforcement import comparison, noise
from learning.reinforcement.actors import play_games
from learning.reinforcement.gain import measure_gain
from learning.reinforcement.noise import equal_block
from learning.reinforcement.plan import ReinforcementPlan
from learning.reinforcement.rewards import rewards_of
from policies.checkpoint import load_predictor
from policies.features.kinds import kinds_of
from policies.inference import Model, load_policy
from policies.slots import Slot
from policies.trajectories import OPTIONS, Trajectory
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


def test_what_a_critic_says_of_discards_is_measured_and_printed(
    start: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    comparison.print_credit(msgspec.convert(found, comparison.CreditReport), as_json=False)
    assert "critic beyond own" in capsys.readouterr().out


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


def test_a_policy_has_gained_nothing_over_itself(start: Path) -> None:
    args = ["eval", "gain", "--policy", str(start), "--start", str(start), "--games", "4", "--workers", "1"]
    result = CliRunner().invoke(cli.app, [*args, "--min-p", "0.5", "--also", "chi", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["games"], found["min_p"], found["divergence"]) == (4, 0.5, 0.0)
    gains = {each["situation"]: each for each in found["gains"]}
    assert gains["all"]["decisions"] > 20.0
    assert gains["another is likeliest"]["decisions"] == 0.0
    assert gains["chi"]["decisions"] > 1.0
    assert all(abs(each["points"]) + abs(each["final"]) < 1e-6 for each in found["gains"])


def test_what_a_policy_has_gained_is_told_by_what_came_of_its_draws(tmp_path: Path, start: Path) -> None:
    """Two policies that draw otherwise: the gain is computed once more here, decision by decision."""
    other = save_start(tmp_path / "other", seed=1)
    plan = ReinforcementPlan(
        games=4, block_games=2, thinning=0.0, min_p=0.3, length="tonpuu", seed=3, also=("chi",)
    )
    report = measure_gain(plan, other, start, workers=1, quiet=True)
    predictor = load_predictor(start)
    discards: list[NDArray[np.float64]] = []
    chis: list[NDArray[np.float64]] = []
    for player, sign in ((other, 1.0), (start, -1.0)):
        games = play_games(plan, player, workers=1, quiet=True)
        points = [game.points.astype(np.float64) for game in games]
        finals = rewards_of(games, "global", predictor, plan.length)
        policies = [load_policy(each) for each in (player, start if player == other else other)]
        for slot, rewards, gained in ((Slot.DISCARD, points, discards), (Slot.CHI, finals, chis)):
            models = [each.model(slot) for each in policies]
            gained.append(sign * gains_of(slot, games, rewards, models, plan))
    gains = {each.situation: each for each in report.gains}
    pairs, calls = np.mean(discards, 0), np.mean(chis, 0)  # over the same walls
    assert report.games == 8
    assert gains["all"].points == pytest.approx(pairs.mean(), rel=1e-3)
    assert gains["all"].points_error == pytest.approx(np.std(pairs, ddof=1) / 2.0, rel=1e-3)
    assert gains["chi"].decisions > 1.0
    assert gains["chi"].final == pytest.approx(calls.mean(), rel=1e-3)
    assert gains["chi"].final_error == pytest.approx(np.std(calls, ddof=1) / 2.0, rel=1e-3)
    for parts in (("the same is likeliest", "another is likeliest"), ("against riichi", "no riichi")):
        assert gains["all"].final == pytest.approx(sum(gains[part].final for part in parts))
        assert gains["all"].decisions == pytest.approx(sum(gains[part].decisions for part in parts))
    assert report.divergence > 0.0


def gains_of(
    slot: Slot,
    games: Sequence[Trajectory],
    rewards: Sequence[NDArray[np.float64]],
    models: Sequence[Model],
    plan: ReinforcementPlan,
) -> NDArray[np.float64]:
    """Of each game and player: what the first model, which played, gained over the second."""
    means: dict[int, list[float]] = {}
    for game, reward in zip(games, rewards, strict=True):
        rows = game.of(slot)
        means.setdefault(game.number // plan.block_games, []).extend(reward[rows["round"], rows["player"]])
    found = []
    for game, reward in zip(games, rewards, strict=True):
        mean, total = np.mean(means[game.number // plan.block_games]), 0.0
        for row in game.of(slot):
            first, second = (chance_of(model, row, slot) for model in models)
            share = 1.0 - min(second / first, plan.reject)
            total += share * (reward[row["round"], row["player"]] - mean)
        found.append(total / 4.0)
    return np.array(found)


def chance_of(model: Model, row: np.void, slot: Slot) -> float:
    """The probability with which a model would have drawn what was drawn."""
    if slot is Slot.DISCARD:
        logits = model.look(row["state"][None], np.array([row["player"]]), None, "tonpuu")[0]
        exps = np.exp(np.where(kinds_of(row["drawn"][None])[0], logits, -np.inf))
        return float(exps[row["kind"]] / exps.sum())
    count = int(row["options"])
    states, players = np.repeat(row["state"][None], count), np.full(count, row["player"])
    logits = model.look(states, players, row["calls"][:count], "tonpuu")
    exps = np.exp([*(logits[:, 1] - logits[:, 0]), row["others"]])
    drawn = [bool(row["drawn"] >> place & 1) for place in (*range(count), OPTIONS)]
    return float(exps[row["chosen"]] / exps[drawn].sum())
