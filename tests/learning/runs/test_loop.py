"""Both kinds of training run, as the loop carries them out."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from structlog.testing import capture_logs

from kit import files
from kit.errors import ConfigError, TrainingError
from kit.files import check_hash, hash_beside
from learning.corpus.reader import Corpus
from learning.reward.training import RewardPlan, train_reward
from learning.runs.learner import Descent
from learning.runs.loop import EvaluationResult
from learning.runs.progress import TrainingProgress
from learning.runs.state import CURVES_FOLDER, STATE_FILE, RunFolder
from learning.supervised.plan import TrainingPlan, make_plan
from learning.supervised.run import SupervisedRun
from learning.supervised.samples_run import train
from policies.checkpoint import models_in
from tests.cli import run_cli
from tests.learning.stopping import stop_at

pytestmark = pytest.mark.usefixtures("restore_logs")
EARLIER = Path(__file__).parent / "data"
"""Two stopped runs of an earlier version: discards after 3 of 6 steps, rewards after 2 of 4 passes.

They learned from the first 54 games of ``houou-01``, with one thread, in an earlier format of the corpus.
"""
STEPS_LEFT = 3


def discard_plan(**settings: Any) -> TrainingPlan:
    sizes: dict[str, Any] = {
        **{"tower": "residual", "width": 2, "depth": 1, "batch_size": 64, "samples": 384, "warm_up": 2},
        **{"precision": "fp32", "preset": "tiny", "validate_every": 128, "validation_rows": 200},
    }
    return make_plan("discard", **{**sizes, **settings})


def reward_plan(**settings: Any) -> RewardPlan:
    return RewardPlan(hidden=6, dense=5, batch_games=8, patience=0, **{"epochs": 4, **settings})


def carry_out(model: str, folder: Path, out: Path) -> None:
    if model == "reward":
        train_reward(reward_plan(), Corpus(folder), out, quiet=True)
    else:
        train(SupervisedRun, discard_plan(), Corpus(folder), out, quiet=True)


def last_state(out: Path, model: str) -> dict[str, Any]:
    state: dict[str, Any] = torch.load(out / "runs" / model / STATE_FILE, weights_only=True)
    return state


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_two_runs_do_not_share_a_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_S", 0.0)
    with RunFolder(tmp_path / "runs" / "reward", {}).held():
        with pytest.raises(ConfigError, match="another process is writing there"):
            carry_out("reward", folder, tmp_path)
        assert not (tmp_path / "runs" / "reward" / STATE_FILE).exists()
    carry_out("reward", folder, tmp_path)
    assert last_state(tmp_path, "reward")


def on_the_corpus(folder: Path, state: Path) -> None:
    """Let the state of a run continue on a corpus of the same games in today's format."""
    saved = torch.load(state, weights_only=True)
    identity = msgspec.json.decode(saved["identity"])
    identity["corpus"] = Corpus(folder).card["content_sha256"]
    torch.save({**saved, "identity": msgspec.json.encode(identity).decode()}, state)


@pytest.mark.usefixtures("one_thread")
def test_a_run_of_an_earlier_version_resumes_and_ends_with_the_same_numbers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out("discard", folder, tmp_path / "whole")
    shutil.copytree(EARLIER, tmp_path / "earlier")
    on_the_corpus(folder, tmp_path / "earlier" / "runs" / "discard" / STATE_FILE)
    taken, real = [0], Descent.step

    def counted(*args: Any) -> float:
        taken[0] += 1
        return real(*args)

    monkeypatch.setattr(Descent, "step", counted)
    carry_out("discard", folder, tmp_path / "earlier")
    assert taken[0] == STEPS_LEFT
    ours, theirs = (last_state(tmp_path / name, "discard") for name in ("whole", "earlier"))
    assert ours["network"].keys() == theirs["network"].keys()
    for name, weights in ours["network"].items():
        # a bias common to all scores changes nothing: its gradient is rounding, which processors differ in
        if name != "head.score.bias":
            assert torch.allclose(weights, theirs["network"][name], rtol=1e-4, atol=1e-6), name
    status, earlier = ours["standing"], theirs["standing"]
    assert status == {
        **earlier,
        "best": pytest.approx(earlier["best"], rel=1e-4),
        "seconds": status["seconds"],
    }


def test_a_run_of_the_earlier_reward_predictor_is_refused(folder: Path, tmp_path: Path) -> None:
    """Its network differs, so its numbers cannot be continued; its checkpoint can still be used."""
    shutil.copytree(EARLIER, tmp_path / "earlier")
    on_the_corpus(folder, tmp_path / "earlier" / "runs" / "reward" / STATE_FILE)
    with pytest.raises(ConfigError, match="holds another run, which differs in encoding;"):
        carry_out("reward", folder, tmp_path / "earlier")


def test_a_reward_run_stopped_within_a_pass_ends_with_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    carry_out("reward", folder, tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 9)
        with pytest.raises(
            KeyboardInterrupt, match=r"^stopped: [\d,]+ of [\d,]+ samples are learned and saved"
        ):
            carry_out("reward", folder, tmp_path / "parts")
    standing = last_state(tmp_path / "parts", "reward")["standing"]
    assert (standing["step"], standing["epoch"], standing["batch"]) == (9, 1, 2)
    carry_out("reward", folder, tmp_path / "parts")
    ours, theirs = (last_state(tmp_path / name, "reward") for name in ("whole", "parts"))
    assert all(torch.equal(weights, theirs["network"][name]) for name, weights in ours["network"].items())
    assert ours["standing"]["best"] == theirs["standing"]["best"]


@pytest.mark.parametrize(
    ("model", "stop", "unbeatable"), [("discard", 3, 2.0), ("reward", 9, -1.0)], ids=["accuracy", "error"]
)
def test_a_run_whose_best_checkpoint_is_gone_keeps_the_next_best(
    folder: Path, tmp_path: Path, model: str, stop: int, unbeatable: float
) -> None:
    """As where only the run's folder was brought from another machine."""
    whole, alone = tmp_path / "whole", tmp_path / "alone"
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, stop)
        with pytest.raises(KeyboardInterrupt):
            carry_out(model, folder, whole)
    saved = last_state(whole, model)
    saved["standing"]["best"] = unbeatable
    hash_beside(whole / "runs" / model / STATE_FILE).unlink()
    torch.save(saved, whole / "runs" / model / STATE_FILE)
    shutil.copytree(whole / "runs", alone / "runs")
    for out, warned in ((whole, []), (alone, ["training.best_is_gone"])):
        with capture_logs() as logs:
            carry_out(model, folder, out)
        assert [each["event"] for each in logs if each["log_level"] == "warning"] == warned
        assert models_in(out) == (model,)
        assert (last_state(out, model)["standing"]["best"] == unbeatable) == (not warned)


def test_ctrl_c_on_the_reward_command_saves_and_the_same_command_resumes(
    folder: Path, tmp_path: Path
) -> None:
    args = [
        "train",
        "reward",
        "--corpus",
        str(folder),
        "--out",
        str(tmp_path),
        "--hidden",
        "4",
        "--dense",
        "4",
    ]
    args += ["--epochs", "2", "--batch-games", "8"]
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 2)
        result = run_cli(*args)
    assert result.exit_code == 130
    state = tmp_path / "runs" / "reward"
    assert f"samples are learned and saved in {state}; give the same command again to resume" in result.stderr
    assert run_cli(*args).exit_code == 0


def test_a_second_ctrl_c_stops_at_once_and_says_what_is_lost(folder: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        real = Descent.step

        def twice(*args: Any) -> float:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            return real(*args)

        patch.setattr(Descent, "step", twice)
        with pytest.raises(KeyboardInterrupt, match=r"^stopped at once: .* usually 120 s at most, is lost"):
            carry_out("discard", folder, tmp_path)
    assert not (tmp_path / "runs" / "discard" / STATE_FILE).exists()


def test_a_reward_run_draws_its_curves(folder: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    carry_out("reward", folder, tmp_path)
    curves = EventAccumulator(str(tmp_path / "runs" / "reward" / CURVES_FOLDER)).Reload()
    assert [point.step for point in curves.Scalars("training/loss")] == [7, 14, 20, 21, 28]
    assert [point.step for point in curves.Scalars("validation/root_error")] == [7, 14, 21, 28]


def test_the_state_is_saved_before_each_evaluation_and_at_the_end(folder: Path, tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "save", lambda _, state: seen.append(dict(state["standing"])))
        carry_out("discard", folder, tmp_path)
    assert [status["step"] for status in seen] == [2, 4, 6, 6]
    assert [status["unmeasured"] for status in seen] == [True, True, True, False]
    assert [status["best"] is None for status in seen] == [True, False, False, False]


@pytest.mark.usefixtures("one_thread")
def test_a_run_killed_in_an_evaluation_evaluates_first_when_it_resumes(folder: Path, tmp_path: Path) -> None:
    carry_out("discard", folder, tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        real, left = SupervisedRun.evaluate, [1]

        def killed(run: SupervisedRun) -> EvaluationResult:
            if not left[0]:
                raise RuntimeError("killed")
            left[0] -= 1
            return real(run)

        patch.setattr(SupervisedRun, "evaluate", killed)
        with pytest.raises(RuntimeError, match="killed"):
            carry_out("discard", folder, tmp_path / "parts")
    assert last_state(tmp_path / "parts", "discard")["standing"]["step"] == 4
    carry_out("discard", folder, tmp_path / "parts")
    ours, theirs = (last_state(tmp_path / name, "discard") for name in ("whole", "parts"))
    assert all(torch.equal(weights, theirs["network"][name]) for name, weights in ours["network"].items())
    for name in ("best", "worse", "step", "unmeasured"):
        assert ours["standing"][name] == theirs["standing"][name]


# --- damaged states ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("finished")
    carry_out("reward", folder, out)
    return out


@pytest.fixture
def state(finished: Path, tmp_path: Path) -> Path:
    """The state of a copy of a run, with its hash beside it."""
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run" / "runs" / "reward" / STATE_FILE


def resume(folder: Path, state: Path) -> None:
    carry_out("reward", folder, state.parents[2])


@pytest.mark.parametrize("part", [0.0, 0.3, 0.5, 0.7, 0.999])
def test_a_flipped_bit_is_found(folder: Path, state: Path, part: float) -> None:
    data = bytearray(state.read_bytes())
    data[int(part * len(data))] ^= 1
    state.write_bytes(data)
    with pytest.raises(TrainingError, match=r"state.pt: cannot be read \(damaged: its hash .*; remove it"):
        resume(folder, state)


@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("has_hash", [True, False])
def test_a_truncated_state_is_refused(folder: Path, state: Path, part: float, has_hash: bool) -> None:
    data = state.read_bytes()
    state.write_bytes(data[: int(part * len(data))])
    if not has_hash:
        hash_beside(state).unlink()
    with pytest.raises(TrainingError, match=r"state.pt: cannot be read"):
        resume(folder, state)


def test_a_state_without_a_hash_resumes_and_gets_one(folder: Path, state: Path) -> None:
    hash_beside(state).unlink()
    resume(folder, state)
    check_hash(state)
    assert hash_beside(state).exists()


def test_an_empty_or_damaged_hash_is_not_taken_for_a_missing_one(folder: Path, state: Path) -> None:
    for text in ("", "0" * 64 + "  state.pt\n"):
        hash_beside(state).write_text(text)
        with pytest.raises(TrainingError, match="damaged"):
            resume(folder, state)


@pytest.mark.parametrize("name", ["standing", "network", "optimiser"])
def test_an_incomplete_state_is_refused_in_one_sentence(folder: Path, state: Path, name: str) -> None:
    saved = torch.load(state, weights_only=True)
    del saved[name]
    torch.save(saved, state)
    hash_beside(state).unlink()
    with pytest.raises(TrainingError, match=f"the saved state is incomplete .it has no '{name}'.; remove"):
        resume(folder, state)


def test_a_state_that_takes_long_to_save_is_saved_less_often(folder: Path, tmp_path: Path) -> None:
    """Every step takes 50 s and a save 12 s, so a save is due after 240 s: the fifth step."""
    now, saves = [0.0], []
    with pytest.MonkeyPatch.context() as patch:
        real = Descent.step

        def slow_step(*args: Any) -> float:
            now[0] += 50.0
            return real(*args)

        def slow_save(_: object, state: Mapping[str, Any]) -> None:
            now[0] += 12.0
            saves.append(state["standing"]["step"])

        patch.setattr("learning.runs.loop.time.monotonic", lambda: now[0])
        patch.setattr(Descent, "step", slow_step)
        patch.setattr(RunFolder, "save", slow_save)
        ten = discard_plan(samples=64 * 10, validate_every=500_000, validation_rows=64)
        train(SupervisedRun, ten, Corpus(folder), tmp_path, quiet=True)
    assert saves == [3, 8, 10, 10]


def test_ctrl_c_does_not_wait_for_a_first_step_that_compiles(folder: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingProgress, "compiles", True)
        stop_at(patch, 1)
        with pytest.raises(KeyboardInterrupt, match=r"^stopped before a step was done"):
            carry_out("discard", folder, tmp_path)
    assert not (tmp_path / "runs" / "discard" / STATE_FILE).exists()
