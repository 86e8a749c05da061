"""Scores are linear in what the last layer sees, and so they can be moved."""

from __future__ import annotations

import pytest
import torch

from game.errors import ConfigError
from policies.checkpoint.store import with_weights
from policies.last_layer import LastLayer
from policies.networks import TowerName, as_input
from policies.slots import Slot
from tests.policies.models import a_network


def some_planes(channels: int) -> torch.Tensor:
    torch.manual_seed(3)
    return torch.randint(0, 256, (5, channels, 34), dtype=torch.uint8)


@pytest.mark.parametrize("tower", ["residual", "pooled", "suits"])
@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.RIICHI])
def test_scores_are_linear_in_the_rows_and_move_with_them(tower: TowerName, slot: Slot) -> None:
    network = a_network(slot, tower=tower)
    layer, planes = LastLayer(network), some_planes(network.architecture.planes)
    scores, rows = layer.look(planes)
    assert rows.shape == (*scores.shape, layer.size)
    assert torch.allclose(rows @ layer.own, scores, atol=1e-4)
    answers = network(as_input(planes))
    expected = answers if slot is Slot.DISCARD else answers[:, 1] - answers[:, 0]
    assert torch.allclose(scores, expected, atol=1e-4)
    change = torch.randn(layer.size)
    before = network.state_dict()
    after = layer.moved(before, change)
    network = with_weights(network, after)
    moved, same = LastLayer(network).look(planes)
    assert torch.equal(rows, same)
    assert torch.allclose(moved, scores + rows @ change, atol=1e-3)
    assert all(name.startswith("head.") for name in before if not torch.equal(after[name], before[name]))
    # "no" and "yes" move alike, so that neither runs away
    if slot is Slot.RIICHI:
        middle = network(as_input(planes)).sum(1) - answers.sum(1)
        assert torch.allclose(middle, torch.zeros(5), atol=1e-3)


def test_a_tower_without_such_a_layer_is_refused() -> None:
    with pytest.raises(ConfigError, match="choose one of another tower"):
        LastLayer(a_network(tower="hosei"))
