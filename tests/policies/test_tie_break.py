"""A second score that decides between close discards, and nothing else."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from game.errors import ConfigError
from policies.checkpoint.store import with_weights
from policies.compute import Precision
from policies.device import multiplies_bytes
from policies.features.table import GUIDED, LITE, SETS, SUPHX
from policies.last_layer import LastLayer
from policies.networks import Network, as_input, with_tie_break
from policies.quantized import fused
from policies.slots import Slot
from policies.towers.tie_break import HELD
from tests.policies.models import a_network, a_tie_break

SHARE = 0.8
INT8_ONLY = pytest.mark.skipif(not multiplies_bytes(), reason="the processor has no products of bytes")


def some_hands(count: int = 64) -> Tensor:
    """Planes with a hand of some ten kinds; the last position has none, as rows that pad a batch."""
    torch.manual_seed(5)
    planes = torch.randint(0, 256, (count, SETS[LITE].planes, 34), dtype=torch.uint8)
    planes *= torch.rand(planes.shape) < 0.2
    planes[:, HELD] = 255 * (torch.rand(count, 34) < 0.3)
    planes[-1] = 0
    return planes


def scores_of(network: Network, planes: Tensor) -> Tensor:
    with torch.no_grad():
        scores: Tensor = network(as_input(planes))
    return scores


@pytest.mark.parametrize("features", [LITE, SUPHX, GUIDED])
def test_the_hand_is_where_the_tie_break_looks(features: str) -> None:
    assert SETS[features].at("A1") == HELD


def test_it_begins_without_effect() -> None:
    network, planes = a_network(tower="suits"), some_hands()
    assert torch.equal(scores_of(with_tie_break(network, SHARE), planes), scores_of(network, planes))


def test_only_close_discards_move_and_none_gets_ahead_of_them() -> None:
    network, planes = a_tie_break(SHARE), some_hands()
    before, after = scores_of(a_network(tower="suits"), planes), scores_of(network, planes)
    reordered = 0
    for hand, first, last in zip(planes[:, HELD] > 0, before, after, strict=True):
        moved = last != first
        if not hand.any():
            assert not moved.any()
            continue
        close = hand & (first >= first[hand].max() + math.log(SHARE))
        assert not (moved & ~close).any()
        assert float((last - first).sum()) == pytest.approx(0.0, abs=1e-5)
        best = last.masked_fill(~hand, -torch.inf).argmax()
        assert close[best]
        reordered += int(best != first.masked_fill(~hand, -torch.inf).argmax())
    assert reordered > 5


@pytest.mark.parametrize("precision", ["fp32", pytest.param("int8", marks=INT8_ONLY)])
def test_a_fused_network_has_it_too(precision: Precision) -> None:
    network, planes = a_tie_break(SHARE, width=64), some_hands()
    wanted, found = scores_of(network, planes), fused(network, (), precision)(planes)
    if precision == "fp32":
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    else:
        # a discard on the edge may be close in one precision only
        assert ((found - wanted).abs() > 0.2 * wanted.std()).float().mean() < 0.02
    plain = fused(a_network(tower="suits", width=64), (), precision)(planes)
    assert (found - plain).abs().max() > 0.3 * wanted.std()


def test_the_last_layer_moves_the_tie_break_alone() -> None:
    network, planes = a_tie_break(SHARE), some_hands()
    layer = LastLayer(network)
    scores, rows = layer.look(planes)
    assert torch.allclose(scores, scores_of(network, planes), atol=1e-5)
    close = rows.abs().sum(2) > 0.0
    assert 1.5 < close.sum(1).float().mean() < 7.0
    # of close discards the scores are this function of the rows, less a constant
    apart = scores - rows @ layer.own
    for each, of in zip(apart, close, strict=True):
        assert not of.any() or float(each[of].max() - each[of].min()) < 1e-4
    change = torch.randn(layer.size)
    before = network.state_dict()
    after = layer.moved(before, change)
    assert {name for name in after if not torch.equal(after[name], before[name])} == {
        f"tie_break.score.{part}.{kind}" for part in ("suits", "honours") for kind in ("weight", "bias")
    }
    moved = scores_of(with_weights(network, after), planes)
    assert torch.allclose(moved, scores + rows @ change, atol=1e-3)


def test_a_network_that_cannot_have_one_is_refused() -> None:
    for network in (a_network(), a_network(Slot.RIICHI, tower="suits"), a_tie_break()):
        with pytest.raises(ConfigError, match="a tie-break is for discards with suits apart that have none"):
            with_tie_break(network, SHARE)
