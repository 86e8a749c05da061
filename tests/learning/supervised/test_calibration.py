"""Models become as sure as they are right."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from kit.errors import ConfigError
from learning.corpus.reader import Corpus
from learning.supervised.calibration import CalibrationPlan, calibrate
from policies.checkpoint import load, models_in, save
from policies.checkpoint.store import with_weights
from policies.flow.slots import Slot
from policies.nets.networks import TOWERS, TowerName, multiplied_answers
from policies.play.included import PHOENIX
from tests.policies.models import a_network


@torch.no_grad()
@pytest.mark.parametrize("tower", TOWERS)
@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.PON])
def test_the_scores_of_every_network_can_be_multiplied(tower: TowerName, slot: Slot) -> None:
    network = a_network(slot, tower=tower)
    planes = torch.rand((4, network.architecture.planes, 34))
    tripled = with_weights(a_network(slot, tower=tower), multiplied_answers(network.state_dict(), 3.0))
    torch.testing.assert_close(tripled(planes), 3.0 * network(planes))


@pytest.mark.parametrize("model", [Slot.DISCARD, Slot.PON])
def test_a_model_that_was_made_surer_is_made_as_sure_as_before(
    corpus: Corpus, model: Slot, tmp_path: Path
) -> None:
    plan = CalibrationPlan(rows=500)
    first = calibrate(model, corpus, PHOENIX, tmp_path / "first", plan, quiet=True)
    start = load(PHOENIX, model)
    save(tmp_path / "surer", start.card, multiplied_answers(start.tensors, 3.0))
    second = calibrate(model, corpus, tmp_path / "surer", tmp_path / "second", plan, quiet=True)

    factors = [float(card.training.settings["sharpness"]) for card in (first, second)]
    assert factors[1] == pytest.approx(factors[0] / 3.0, rel=1e-3)
    assert second.metrics["log_loss"] == pytest.approx(first.metrics["log_loss"])
    assert first.metrics["log_loss"] <= first.metrics["log_loss_before"] < second.metrics["log_loss_before"]
    assert first.parents == (start.card.tensors.sha256,)
    one, other = (load(tmp_path / folder, model).tensors for folder in ("first", "second"))
    for name, tensor in one.items():
        torch.testing.assert_close(other[name], tensor, rtol=1e-3, atol=1e-6)
    assert models_in(tmp_path / "first") == models_in(PHOENIX), "so it can play"


def test_players_who_decide_nowhere_are_named(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nobody"):
        calibrate(Slot.DISCARD, corpus, PHOENIX, tmp_path / "out", CalibrationPlan(player="nobody"))
    assert not (tmp_path / "out").exists()
