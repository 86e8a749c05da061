"""What the loop does for every training run, on one that learns a number."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import threading
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from structlog.testing import capture_logs
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from kit import files
from kit.errors import ConfigError, TrainingError
from kit.files import check_hash, hash_beside, replace_hashed
from learning.runs import state
from learning.runs.loop import EvaluationResult, carry_out
from learning.runs.progress import TrainingProgress
from learning.runs.state import CURVES_FOLDER, STATE_FILE, RunFolder
from tests.learning.runs.fake_run import CHECKPOINT, FakePlan, FakeRun
from tests.learning.stopping import killed_in_a_write, stop_at


def carried_out(out: Path, **settings: int) -> FakeRun:
    run = FakeRun(out, **settings)
    carry_out(run, quiet=True)
    return run


def stopped(out: Path, step: int, **settings: int) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
        stop_at(patch, step, FakeRun, "learn")
        carried_out(out, **settings)
    said = f"stopped: {64 * step} of 384 samples are learned and saved in {out / 'runs' / 'fake'}; give the"
    assert str(caught.value).startswith(said)


def state_of(out: Path) -> Path:
    return out / "runs" / "fake" / STATE_FILE


def standing(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(state_of(out), weights_only=True)["status"]
    return {name: value for name, value in found.items() if name != "seconds"}


def assert_same(one: Path, other: Path) -> None:
    assert (one / CHECKPOINT).read_bytes() == (other / CHECKPOINT).read_bytes()
    assert standing(one) == standing(other)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A run that nothing disturbed."""
    carried_out(tmp_path / "whole")
    return tmp_path / "whole"


# --- stopped and resumed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_a_stopped_run_ends_with_the_same_numbers(whole: Path, tmp_path: Path, step: int) -> None:
    stopped(tmp_path / "parts", step)
    assert standing(tmp_path / "parts")["step"] == step
    carried_out(tmp_path / "parts")
    assert_same(whole, tmp_path / "parts")


def test_a_run_killed_in_an_evaluation_evaluates_first_when_it_resumes(whole: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        real, left = FakeRun.evaluate, [1]

        def killed(run: FakeRun) -> EvaluationResult:
            if not left[0]:
                raise RuntimeError("killed")
            left[0] -= 1
            return real(run)

        patch.setattr(FakeRun, "evaluate", killed)
        with pytest.raises(RuntimeError, match="killed"):
            carried_out(tmp_path / "parts")
    assert standing(tmp_path / "parts")["step"] == 4
    carried_out(tmp_path / "parts")
    assert_same(whole, tmp_path / "parts")


def test_fault_18_a_run_killed_within_its_saves_ends_with_the_same_numbers(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.runs.loop.SAVE_EVERY_S", 0.0)
    for saves in (1, 2, 1):
        code = killed_in_a_write(state, "replace_hashed", saves, lambda: carried_out(tmp_path / "parts"))
        assert code == -signal.SIGKILL
    assert standing(tmp_path / "parts")["step"] == 4
    carried_out(tmp_path / "parts")
    assert_same(whole, tmp_path / "parts")


def test_a_finished_run_is_left_as_it_is(whole: Path) -> None:
    before = (whole / CHECKPOINT).stat().st_mtime_ns
    carried_out(whole)
    assert (whole / CHECKPOINT).stat().st_mtime_ns == before


def test_a_run_without_improvement_stops_early(tmp_path: Path) -> None:
    assert carried_out(tmp_path, steps=100, best=4, patience=3).status.step == 10
    assert "'score': 4.0" in (tmp_path / CHECKPOINT).read_text()


def test_a_run_whose_best_checkpoint_is_gone_keeps_the_next_best(tmp_path: Path) -> None:
    """As where only the run's folder was brought from another machine."""
    there, alone = tmp_path / "there", tmp_path / "alone"
    stopped(there, 3, best=2)
    shutil.copytree(there / "runs", alone / "runs")
    for out, warned, score in ((there, [], 2.0), (alone, ["training.best_is_gone"], 0.0)):
        with capture_logs() as logs:
            carried_out(out, best=2)
        assert [each["event"] for each in logs if each["log_level"] == "warning"] == warned
        assert f"'score': {score}" in (out / CHECKPOINT).read_text()


def test_a_second_ctrl_c_stops_at_once_and_says_what_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(_: FakeRun) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(FakeRun, "learn", twice)
    with pytest.raises(KeyboardInterrupt, match=r"^stopped at once: .* usually 120 s at most, is lost"):
        carried_out(tmp_path)
    assert not state_of(tmp_path).exists()


def test_the_first_ctrl_c_is_acknowledged_and_a_validation_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[dict[str, str]] = []
    monkeypatch.setattr(TrainingProgress, "note", lambda _, **said: notes.append(said))
    told = threading.Event()

    def evaluate(run: FakeRun) -> EvaluationResult:
        assert notes[-1] == {"validation": "under way"}
        os.kill(os.getpid(), signal.SIGINT)
        assert told.wait(60.0)
        return EvaluationResult(1.0, True, "", {}, {})

    def warning(event: str, hint: str) -> None:
        assert (event, hint) == ("train.stopping", "stopping after this step; Ctrl-C again stops now")
        told.set()

    monkeypatch.setattr("learning.runs.loop._log", types.SimpleNamespace(warning=warning))
    monkeypatch.setattr(FakeRun, "evaluate", evaluate)
    with pytest.raises(KeyboardInterrupt, match=r"^stopped: "):
        carried_out(tmp_path)


def test_ctrl_c_does_not_wait_for_a_first_step_that_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainingProgress, "compiles", True)
    stop_at(monkeypatch, 1, FakeRun, "learn")
    with pytest.raises(KeyboardInterrupt, match=r"^stopped before a step was done"):
        carried_out(tmp_path)
    assert not state_of(tmp_path).exists()


# --- what is saved and drawn ------------------------------------------------------------------------------


def test_the_state_is_saved_before_each_evaluation_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Mapping[str, Any]] = []
    monkeypatch.setattr(RunFolder, "save", lambda _, state: seen.append(dict(state["status"])))
    carried_out(tmp_path)
    assert [status["step"] for status in seen] == [2, 4, 6, 6]
    assert [status["unmeasured"] for status in seen] == [True, True, True, False]
    assert [status["best"] for status in seen] == [None, 2.0, 4.0, 6.0]


def test_a_state_that_takes_long_to_save_is_saved_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step takes 50 s and a save 12 s, so a save is due after 240 s: the fifth step."""
    now, saves = [0.0], []

    def slow_step(_: FakeRun) -> None:
        now[0] += 50.0

    def slow_save(_: object, state: Mapping[str, Any]) -> None:
        now[0] += 12.0
        saves.append(state["status"]["step"])

    monkeypatch.setattr("learning.runs.loop.time.monotonic", lambda: now[0])
    monkeypatch.setattr(FakeRun, "learn", slow_step)
    monkeypatch.setattr(RunFolder, "save", slow_save)
    carried_out(tmp_path, steps=10, every=10)
    assert saves == [3, 8, 10, 10]


def test_a_run_draws_its_curves(tmp_path: Path) -> None:
    """The loss of each step is its number; the curve has the mean since the point before."""
    carried_out(tmp_path, steps=28, every=7)
    curves = EventAccumulator(str(tmp_path / "runs" / "fake" / CURVES_FOLDER)).Reload()
    losses = [(point.step, point.value) for point in curves.Scalars("training/loss")]
    assert losses == [(7, 4.0), (14, 11.0), (20, 17.5), (21, 21.0), (28, 25.0)]
    assert [point.step for point in curves.Scalars("validation/score")] == [7, 14, 21, 28]


def test_a_full_disk_stops_a_run_and_keeps_what_was_saved(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [3]

    def replace_three(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        replace_hashed(path, data)

    with monkeypatch.context() as patch:
        patch.setattr("learning.runs.loop.SAVE_EVERY_S", 0.0)
        patch.setattr("learning.runs.state.replace_hashed", replace_three)
        with pytest.raises(TrainingError, match=r"cannot be written.*No space left.*free some space"):
            carried_out(tmp_path / "parts")
    assert standing(tmp_path / "parts")["step"] == 3
    carried_out(tmp_path / "parts")
    assert_same(whole, tmp_path / "parts")


def test_a_disk_that_is_full_while_a_checkpoint_is_kept_costs_no_step(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(FakeRun, "keep", full)
        with pytest.raises(TrainingError, match=r"^stopped: .*No space left.* is intact: free some space"):
            carried_out(tmp_path / "parts")
    assert standing(tmp_path / "parts")["step"] == 2
    carried_out(tmp_path / "parts")
    assert_same(whole, tmp_path / "parts")


# --- another run's folder ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_two_runs_do_not_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_S", 0.0)
    with RunFolder(tmp_path / "runs" / "fake", FakePlan(6, 0), {}).held():
        with pytest.raises(ConfigError, match="another process is writing there"):
            carried_out(tmp_path)
        assert not state_of(tmp_path).exists()
    carried_out(tmp_path)
    assert state_of(tmp_path).exists()


def test_another_plan_in_the_same_folder_is_refused(whole: Path) -> None:
    with pytest.raises(ConfigError, match=r"differs in --seed; choose another --out"):
        carried_out(whole, seed=1)
    with pytest.raises(ConfigError, match="differs in --steps;"):
        carried_out(whole, steps=5)


def test_a_finished_run_is_extended_and_one_from_before_an_option_goes_on(
    whole: Path, tmp_path: Path
) -> None:
    saved = torch.load(state_of(whole), weights_only=True)
    saved["identity"] = json.dumps({"plan": {"steps": 6, "seed": 0}})
    data = io.BytesIO()
    torch.save(saved, data)
    replace_hashed(state_of(whole), data.getvalue())
    carried_out(whole, steps=10)
    carried_out(tmp_path / "at once", steps=10)
    assert_same(tmp_path / "at once", whole)


# --- damaged states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
@pytest.mark.parametrize(("flipped", "has_hash"), [(True, True), (False, True), (False, False)])
def test_a_damaged_state_is_refused(whole: Path, part: float, flipped: bool, has_hash: bool) -> None:
    """One bit of it is flipped, which only the hash shows, or its end is lost."""
    data = bytearray(state_of(whole).read_bytes())
    place = int(part * len(data))
    data[place] ^= 1
    state_of(whole).write_bytes(data if flipped else data[:place])
    if not has_hash:
        hash_beside(state_of(whole)).unlink()
    with pytest.raises(TrainingError, match=r"state\.pt: cannot be read.*remove it"):
        carried_out(whole)


def test_a_state_without_a_hash_resumes_and_gets_one(whole: Path) -> None:
    hash_beside(state_of(whole)).unlink()
    with capture_logs() as logs:
        carried_out(whole)
    assert [line["event"] for line in logs].count("training.state_unchecked") == 1
    check_hash(state_of(whole))
    assert hash_beside(state_of(whole)).exists()


def test_an_empty_or_damaged_hash_is_not_taken_for_a_missing_one(whole: Path) -> None:
    for text in ("", "0" * 64 + "  state.pt\n"):
        hash_beside(state_of(whole)).write_text(text)
        with pytest.raises(TrainingError, match="damaged"):
            carried_out(whole)


@pytest.mark.parametrize("identity", [5, None, "", "{", "[]", {"plan": 1}])
def test_a_state_of_a_run_that_cannot_be_told_is_refused(whole: Path, identity: object) -> None:
    saved = {**torch.load(state_of(whole), weights_only=True), "identity": identity}
    data = io.BytesIO()
    torch.save(saved, data)
    replace_hashed(state_of(whole), data.getvalue())
    with pytest.raises((TrainingError, ConfigError), match=r"to start again$"):
        carried_out(whole)


@pytest.mark.parametrize("name", ["status", "network", "optimiser"])
def test_an_incomplete_state_is_refused_in_one_sentence(whole: Path, name: str) -> None:
    saved = torch.load(state_of(whole), weights_only=True)
    del saved[name]
    torch.save(saved, state_of(whole))
    hash_beside(state_of(whole)).unlink()
    with pytest.raises(TrainingError, match=f"the saved state is incomplete .it has no '{name}'.; remove"):
        carried_out(whole)
