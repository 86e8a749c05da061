"""How much of what runs learned is signal, on movements whose signal is known."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import torch
from typer.testing import CliRunner

from bot import cli
from game.errors import ConfigError
from learning.reinforcement.movement import movements
from policies.checkpoint import load, save
from policies.checkpoint.card import Data
from policies.slots import Slot
from tests.learning.reinforcement.setting import save_start
from tests.policies.models import a_network, features_of

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


def moved(before: Path, after: Path, games: int, noise: float, seed: int) -> Path:
    """A policy that has learned a signal of length 1 a weight, and noise; its statistics moved as well."""
    checkpoint = load(before, "discard")
    signal, dice = torch.Generator().manual_seed(0), torch.Generator().manual_seed(seed)
    weights = {}
    for name, tensor in sorted(checkpoint.tensors.items()):
        if name.endswith(("running_mean", "running_var")):
            weights[name] = tensor + 100.0
            continue
        step = torch.randn(tensor.shape, generator=signal)
        weights[name] = tensor + step + noise * torch.randn(tensor.shape, generator=dice)
    data = Data(players="self-play", games=games, samples=1)
    save(after, msgspec.structs.replace(checkpoint.card, data=data), weights)
    return after


@pytest.mark.parametrize(("noise", "share"), [(0.0, 1.0), (1.0, 0.5), (3.0, 0.1)])
def test_the_cosine_of_two_stretches_is_the_share_of_the_signal(
    start: Path, tmp_path: Path, noise: float, share: float
) -> None:
    half = moved(start, tmp_path / "half", 1_000, noise, 1)
    whole = moved(half, tmp_path / "whole", 2_000, noise, 2)
    other = moved(start, tmp_path / "other", 1_000, noise, 3)
    found = movements(start, [[half, whole], [other]])
    assert [stretch.games for stretch in found.stretches] == [1_000, 1_000, 1_000]
    assert [stretch.end for stretch in found.stretches] == ["half", "whole", "other"]
    for one, two in ((0, 1), (0, 2), (1, 2)):
        assert found.cosines[one][two] == pytest.approx(share, abs=4 * found.chance)
        assert found.cosines[one][two] == found.cosines[two][one]


def test_the_command_prints_stretches_and_cosines(start: Path, tmp_path: Path) -> None:
    half = moved(start, tmp_path / "half", 500, 0.0, 1)
    whole = moved(half, tmp_path / "whole", 1_500, 0.0, 2)
    args = ["eval", "movement", "--start", str(start), "--run", f"{half},{whole}"]
    told = CliRunner().invoke(cli.app, args)
    assert told.exit_code == 0, told.output
    assert "half to whole" in told.stdout
    assert "chance: 0 ±" in told.stdout
    found = json.loads(CliRunner().invoke(cli.app, [*args, "--json"]).stdout)
    assert [stretch["games"] for stretch in found["stretches"]] == [500, 1_000]
    assert found["cosines"][0][1] == pytest.approx(1.0, abs=1e-6)


def test_one_stretch_and_another_network_are_refused(start: Path, tmp_path: Path) -> None:
    half = moved(start, tmp_path / "half", 500, 0.0, 1)
    with pytest.raises(ConfigError, match="two stretches are needed"):
        movements(start, [[half]])
    network = a_network(tower="suits", width=16)
    card = load(start, "discard").card
    wide = msgspec.structs.replace(
        card, architecture=network.architecture, features=features_of(Slot.DISCARD)
    )
    save(tmp_path / "wide", wide, network.state_dict())
    with pytest.raises(ConfigError, match="wide: its discard model is not one that began as"):
        movements(start, [[half, tmp_path / "wide"]])
