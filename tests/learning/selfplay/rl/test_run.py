"""Whole runs of self-play learning: the same numbers however they are played, stopped and resumed."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from kit.errors import ConfigError
from learning.runs.state import STATE_FILE
from learning.selfplay.rl import run as module
from learning.selfplay.rl.actors import Actors, LearnedGame
from learning.selfplay.rl.learner import PolicyLearner
from policies.checkpoint.card import MODELS
from policies.checkpoint.store import load, models_in
from policies.play.included import SHIPPED
from tests.cli import run_cli
from tests.learning.clusters import address, machines
from tests.learning.selfplay.rl.setting import learn, read_curves, save_start, short_plan
from tests.learning.stopping import stop_at

__all__ = ["address", "machines"]


@pytest.fixture
def unjudged(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No evaluation is played: each has the result of the undisturbed run's, only better every time."""
    figures = load(whole, "discard").card.metrics
    taken = itertools.count(1)
    monkeypatch.setattr(module, "against_start", lambda *_, **__: None)
    monkeypatch.setattr(module, "match_figures", lambda _: {**figures, "points": float(next(taken))})


def weights_in(out: Path) -> dict[str, torch.Tensor]:
    state = torch.load(out / "runs" / "rl" / STATE_FILE, weights_only=True)
    return state["learner"]["policy"]["network"]


def same(one: Path, other: Path) -> bool:
    ours, theirs = weights_in(one), weights_in(other)
    return all(np.array_equal(weights, theirs[name]) for name, weights in ours.items())


def test_a_run_leaves_a_playable_policy_that_names_its_parent(start: Path, whole: Path) -> None:
    assert set(models_in(whole)) == set(MODELS)
    card, begin = load(whole, "discard").card, load(start, "discard").card
    assert card.parents == (begin.tensors.sha256,)
    assert card.data.games == 2
    assert card.data.players == "self-play"
    assert card.training.steps == 4
    assert card.metrics["games"] == 4
    assert card.tensors != begin.tensors
    assert load(whole, "chi").card.tensors == load(start, "chi").card.tensors


def test_a_start_without_a_reward_predictor_learns_with_the_included_one(start: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(start, bare)
    for path in bare.glob("reward*"):
        path.unlink()
    learn(short_plan(games=2, evaluate_every=2), bare, tmp_path / "out")
    assert load(tmp_path / "out", "reward").card.tensors == load(SHIPPED, "reward").card.tensors


def test_past_opponents_need_a_seat() -> None:
    with pytest.raises(ConfigError, match="--opponents past goes with --seats one"):
        short_plan(seats="all", opponents="past")


def test_a_run_does_not_replace_its_start(start: Path) -> None:
    with pytest.raises(ConfigError, match="the checkpoint to begin from is there; choose another folder"):
        module.ReinforcementRun(short_plan(), start, start)


def test_models_of_another_start_do_not_stay_beside_those_that_learned(start: Path, tmp_path: Path) -> None:
    other = save_start(tmp_path / "other", seed=9)
    learned = load(start, "discard")
    for begin in (other, start):
        module.copy_policy(begin, tmp_path / "out", learned.card, learned.arrays)
    for model in MODELS:
        assert load(tmp_path / "out", model).card.tensors == load(start, model).card.tensors


def test_a_run_draws_its_curves(whole: Path) -> None:
    curves = read_curves(whole / "runs" / "rl" / "curves")
    assert curves.keys() >= {
        *(f"policy/{name}" for name in ("entropy", "alpha", "divergence", "explained", "ratio_0.99")),
        *("play/staleness", "play/wins", "speed/games_per_s", "arena/points"),
    }
    assert [step for step, _ in curves["policy/entropy"]] == [1, 2]
    assert [value for _, value in curves["play/staleness"]] == [0.0, 1.0]


@pytest.mark.usefixtures("here")
def test_a_stopped_run_resumes_and_ends_with_the_same_numbers(
    start: Path, whole: Path, tmp_path: Path, unjudged: None
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 1, PolicyLearner, "learn")
        with pytest.raises(KeyboardInterrupt, match="stopped: 1 of 2 games are learned and saved"):
            learn(short_plan(), start, tmp_path)
    learn(short_plan(), start, tmp_path)
    assert same(whole, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("on_cluster", [False, True])
def test_neither_more_actors_nor_a_killed_one_change_anything(
    start: Path, whole: Path, tmp_path: Path, unjudged: None, request: pytest.FixtureRequest, on_cluster: bool
) -> None:
    ray = request.getfixturevalue("address") if on_cluster else None
    kill, real = kill_a_ray_worker if on_cluster else kill_an_actor, Actors.block

    def killing(self: Actors, number: int) -> list[LearnedGame]:
        if number == 0:
            kill()
        return real(self, number)

    with pytest.MonkeyPatch.context() as patch, capture_logs() as logs:
        patch.setattr(Actors, "block", killing)
        learn(short_plan(), start, tmp_path, workers=2, ray=ray)
    assert "worker.lost" in [line["event"] for line in logs]
    assert same(whole, tmp_path)


def kill_an_actor() -> None:
    """Kill a process of the pool as soon as there is one."""
    while not (children := multiprocessing.active_children()):
        time.sleep(0.01)
    time.sleep(0.3)  # it is starting, or playing
    pid = children[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def kill_a_ray_worker() -> None:
    """Kill a process of the cluster that has become one of our actors, while it prepares or plays."""
    while not (ours := [each for each in Path("/proc").glob("[0-9]*") if "_WorkerActor" in command(each)]):
        time.sleep(0.01)
    os.kill(int(ours[0].name), signal.SIGKILL)


def command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_one_seat_learns_against_the_past_without_a_lag(start: Path, tmp_path: Path, unjudged: None) -> None:
    plan = short_plan(lag=0, steps=1, seats="one", opponents="past", past=1, games=3)
    learn(plan, start, tmp_path)
    assert load(tmp_path, "discard").card.data.games == 3
    curves = read_curves(tmp_path / "runs" / "rl" / "curves")
    assert [value for _, value in curves["play/staleness"]] == [0.0, 0.0, 0.0]
    # one step a block, and the newest policy: every ratio is 1
    assert all(value < 1e-5 for _, value in curves["policy/ratio_deviation"])


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_an_oracle_fades_into_a_normal_policy(start: Path, tmp_path: Path, unjudged: None) -> None:
    plan = short_plan(oracle_games=1, fade_games=1, games=3, baseline="oracle")
    learn(plan, start, tmp_path)
    curves = read_curves(tmp_path / "runs" / "rl" / "curves")
    assert [value for _, value in curves["policy/gamma"]] == [1.0, 1.0, 0.0]
    rates = [plan.rate(block, 99) for block in range(3)]
    assert rates == pytest.approx([1e-3, 1e-3, 1e-4])
    card, begin = load(tmp_path, "discard").card, load(start, "discard").card
    assert (card.features, card.architecture) == (begin.features, begin.architecture)
    assert card.tensors != begin.tensors
    # what was shown in play is what is learned from: no ratio is far from 1
    assert all(abs(value - 1.0) < 0.2 for _, value in curves["policy/ratio_0.99"])


@pytest.mark.slow
def test_the_tiny_preset_runs_every_stage(tmp_path: Path) -> None:
    """With the included models: oracle, fading, normal policy, critic and evaluations, in minutes."""
    result = run_cli("train", "rl", "--preset", "tiny", "--out", str(tmp_path), "--json")
    assert result.exit_code == 0, result.output
    curves = read_curves(tmp_path / "runs" / "rl" / "curves")
    assert [value for _, value in curves["policy/gamma"]] == [1.0, 1.0, 1.0, 0.5, 0.0, 0.0]
    assert len(curves["arena/points"]) == 2
