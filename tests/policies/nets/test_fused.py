from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from numpy.typing import NDArray

from kit.errors import ModelError
from policies.flow.slots import Slot
from policies.nets.architectures import HOSEI_TOWERS, TOWERS, Floats, TowerName
from policies.nets.compute import Compute, Precision, choose_compute
from policies.nets.device import DeviceNetwork
from policies.nets.fused import FusedNetwork
from policies.nets.networks import Network, as_input
from policies.nets.products import multiplies_bytes
from policies.nets.quantized import fused
from tests.policies.models import a_network, weights_of

FUSED = [tower for tower in TOWERS if tower not in HOSEI_TOWERS]
INT8_ONLY = pytest.mark.skipif(not multiplies_bytes(), reason="the processor has no products of bytes")
INT8 = pytest.param("int8", marks=INT8_ONLY)


def planes_of(count: int, planes: int) -> torch.Tensor:
    """Integers between 0 and 255, most of them 0, and planes of one number, as from the encoder."""
    torch.manual_seed(1)
    values = torch.randint(0, 256, (count, planes, 34), dtype=torch.uint8)
    values *= torch.rand(values.shape) < 0.2
    values[:, 7:60:5] = values[:, 7:60:5, :1]
    values[:, 1] = torch.tensor([3, 200] * 17)
    return values


@pytest.mark.parametrize("tower", FUSED)
@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.PON])
@pytest.mark.parametrize("count", [1, 2, 37])
def test_a_fused_network_gives_the_same_logits(tower: TowerName, slot: Slot, count: int) -> None:
    network = a_network(slot, width=64, depth=6, tower=tower)
    planes = planes_of(count, network.architecture.planes)
    with torch.no_grad():
        wanted = network(as_input(planes))
    assert wanted.std() > 0.01
    np.testing.assert_allclose(
        FusedNetwork(weights_of(network))(planes.numpy()), wanted, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("tower, squeeze", [*((tower, 0) for tower in FUSED), ("suits", 32)])
@INT8_ONLY
def test_bytes_change_the_logits_only_a_little(tower: TowerName, squeeze: int) -> None:
    network = a_network(width=64, depth=6, tower=tower, squeeze=squeeze)
    planes = planes_of(16, network.architecture.planes)
    with torch.no_grad():
        wanted = network(as_input(planes))
    off = torch.from_numpy(fused(weights_of(network), (), "int8")(planes.numpy())) - wanted
    assert 0.0 < off.abs().max() < 0.3 * wanted.std()
    assert off.std() < 0.06 * wanted.std()


@pytest.mark.parametrize("tower", FUSED)
@pytest.mark.parametrize("precision", ["fp32", INT8])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_reach_the_logits(
    tower: TowerName, precision: Precision, number: float
) -> None:
    network = a_network(tower=tower)
    planes = planes_of(2, network.architecture.planes)
    block = network.tower[0]
    for layer, kind in ((network.stem_norm, "bias"), (block.second_norm, "bias"), (block.second, "weight")):
        values = next(tensor for name, tensor in layer.named_parameters() if name.endswith(kind))
        kept = values.detach().clone()
        values.data.fill_(number)
        assert not np.isfinite(fused(weights_of(network), (), precision)(planes.numpy())).all()
        values.data.copy_(kept)
    assert np.isfinite(fused(weights_of(network), (), precision)(planes.numpy())).all()


@pytest.mark.parametrize(
    "changes", [{"squeeze": 8}, {"normalised": False}, {"squeeze": 3, "normalised": False}]
)
@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.PON])
def test_variants_of_suits_apart_give_the_same_logits(slot: Slot, changes: dict[str, int]) -> None:
    shape = a_network(slot, width=16, depth=3, tower="suits").architecture
    torch.manual_seed(3)
    network = Network(replace(shape, **changes)).train()
    for parameter in network.parameters():
        if parameter.ndim == 1:
            parameter.data.normal_(0.5, 0.3)
    planes = planes_of(8, shape.planes)
    with torch.no_grad():
        network(as_input(planes))
        wanted = network.eval()(as_input(planes))
    assert wanted.std() > 0.01
    np.testing.assert_allclose(
        FusedNetwork(weights_of(network))(planes.numpy()), wanted, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("tower, squeeze", [*((tower, 0) for tower in FUSED), ("suits", 8)])
@pytest.mark.parametrize("precision", ["fp32", INT8])
def test_blank_planes_count_for_nothing(tower: TowerName, squeeze: int, precision: Precision) -> None:
    network = a_network(tower=tower, squeeze=squeeze)
    planes = planes_of(3, network.architecture.planes)
    emptied = planes.clone()
    emptied[:, [0, 100]] = 0
    blank, whole = (fused(weights_of(network), each, precision)(planes.numpy()) for each in ((0, 100), ()))
    assert not np.allclose(blank, whole, atol=1e-3)
    assert np.array_equal(blank, fused(weights_of(network), (), precision)(emptied.numpy()))


@pytest.mark.parametrize(
    "tower, precision",
    [
        *((tower, "fp32") for tower in TOWERS),
        *(pytest.param(tower, "int8", marks=INT8_ONLY) for tower in FUSED),
    ],
)
@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.PON])
def test_a_position_s_logits_depend_neither_on_its_company_nor_on_its_place(
    tower: TowerName, precision: Precision, slot: Slot
) -> None:
    # torch's own products do not need their whole width
    width = 16 if tower in HOSEI_TOWERS else 64
    weights = weights_of(a_network(slot, width=width, depth=2, tower=tower))
    scores: Callable[[NDArray[np.uint8]], Floats]
    if tower in HOSEI_TOWERS:
        scores = DeviceNetwork(weights, (), Compute(rows=12))
    else:
        scores = fused(weights, (), precision)
    planes = planes_of(12, weights.architecture.planes).numpy()
    alone = np.concatenate([scores(planes[i : i + 1]) for i in range(12)])
    for first in range(12):
        assert np.array_equal(scores(planes[first:]), alone[first:])


@INT8_ONLY
def test_a_processor_without_products_of_bytes_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_compute().precision == "int8"
    monkeypatch.setattr("policies.nets.compute.multiplies_bytes", lambda: False)
    assert choose_compute().precision != "int8"
    with pytest.raises(ModelError, match="use the precision fp32"):
        choose_compute(precision="int8")
