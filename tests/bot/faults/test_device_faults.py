"""Row 13: a GPU runs out of memory or is lost while the program plays on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from policies.features.encode import Planes
from policies.nets.architectures import Floats, Weights
from policies.nets.compute import Compute, Precision
from policies.nets.fused import FusedNetwork
from replays.formats import write_game
from tests.cli import run_cli
from tests.policies.models import save_models
from tests.replays.games import ended_early

pytestmark = pytest.mark.usefixtures("restore_logs")

HEALTHY = 30
"""Answers of the GPU before it fails: some decisions into the first round."""


class MadeUpGpu:
    """In place of `DeviceNetwork` and fused networks: computes on the CPU, whatever its device is."""

    fault: ClassVar[Callable[[str], None]]
    answers = 0

    def __init__(self, weights: Weights, blank: Sequence[int], how: Compute | Precision) -> None:
        self.device = how.device if isinstance(how, Compute) else "cpu"
        self._network = FusedNetwork(weights, blank)

    def __call__(self, planes: Planes) -> Floats:
        MadeUpGpu.answers += 1
        if MadeUpGpu.answers > HEALTHY:
            MadeUpGpu.fault(self.device)
        return self._network(planes)


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SUZAKU_DECISION__CHECKPOINTS", str(save_models(tmp_path / "models")))
    monkeypatch.setenv("SUZAKU_DECISION__PERMUTATIONS", "1")
    monkeypatch.setattr("policies.nets.compute.has_gpu", lambda: True)
    monkeypatch.setattr("policies.nets.device.DeviceNetwork", MadeUpGpu)
    monkeypatch.setattr("policies.play.inference.fused", MadeUpGpu)
    monkeypatch.setattr(MadeUpGpu, "answers", 0)
    monkeypatch.setattr(MadeUpGpu, "fault", staticmethod(lambda _: None), raising=False)


FAULTS = {
    "no memory": (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), ("cuda",), 1, False),
    "lost": (RuntimeError("CUDA error: an illegal memory access was encountered"), ("cuda",), 1, False),
    "no memory on the CPU either": (MemoryError(), ("cuda", "cpu"), 1, True),
    "another error": (ValueError("shape"), ("cuda", "cpu"), 0, True),
}
"""The error, on which devices, how often play moves to the CPU, and whether the rules play at last."""


@pytest.mark.parametrize(("error", "devices", "moved", "by_rules"), FAULTS.values(), ids=FAULTS)
def test_fault_13_a_lost_gpu_costs_one_try_on_the_cpu_and_no_other_error_is_taken_for_one(
    error: Exception,
    devices: Sequence[str],
    moved: int,
    by_rules: bool,
    gpu: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(device: str) -> None:
        if device in devices:
            raise error

    monkeypatch.setattr(MadeUpGpu, "fault", staticmethod(fail))
    args = ["play", "--device", "cuda", "--type", "tonpuu", "--seed", "21", "--log-format", "json", "--json"]
    result = run_cli(*args)
    assert result.exit_code == 0
    assert result.stderr.count('"decision.moved_to_cpu"') == moved
    assert ('"decision.fallback"' in result.stderr) == by_rules
    assert MadeUpGpu.answers > HEALTHY + 10 or by_rules


@pytest.mark.parametrize("command", ["play", "check", "engine"])
def test_a_gpu_that_is_not_there_is_refused_before_anything_connects(
    command: str, gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.nets.compute.has_gpu", lambda: False)
    result = run_cli(command, "--device", "cuda")
    assert (result.exit_code, result.stdout) == (2, "")
    told = "decision.device: torch finds no GPU it can use; use `--device auto`, or `decision.device: auto`"
    assert result.stderr.splitlines()[-1] == f"suzaku: {told}"


@pytest.mark.parametrize(("there", "device"), [(True, "cuda"), (False, "cpu")])
def test_auto_takes_the_gpu_if_there_is_one(
    there: bool, device: str, gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.nets.compute.has_gpu", lambda: there)
    seen: set[str] = set()
    monkeypatch.setattr(MadeUpGpu, "fault", staticmethod(seen.add))
    monkeypatch.setattr(MadeUpGpu, "answers", HEALTHY)
    result = run_cli("check", "--device", "auto")
    assert result.exit_code == 0
    assert "on auto: one decision" in result.stdout
    assert seen == {device}


def test_fault_13_a_review_goes_on_when_the_gpu_is_lost(
    gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "game.xml"
    record.write_text(write_game(ended_early(1), "mjlog"))
    args = ["review", str(record), "--seat", "0", "--policy", str(tmp_path / "models"), "--json"]
    alone = run_cli(*args)
    assert alone.exit_code == 0

    def lost(device: str) -> None:
        if device == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(MadeUpGpu, "fault", staticmethod(lost))
    monkeypatch.setattr(MadeUpGpu, "answers", HEALTHY)
    found = run_cli(*args, "--device", "cuda")
    assert found.exit_code == 0
    assert found.stderr.count("decision.moved_to_cpu") == 1
    assert json.loads(found.stdout) == json.loads(alone.stdout)
