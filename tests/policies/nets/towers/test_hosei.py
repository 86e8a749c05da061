"""Hosei's network and its base model: what exchanging suits does to them, and their checkpoints."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from kit.errors import CheckpointCorrupt
from policies.checkpoint.card import Card
from policies.checkpoint.store import LARGEST_FILE, LARGEST_HOSEI_FILE, load
from policies.checkpoint.tensors import largest_size
from policies.features.table import HOSEI, LITE, SETS
from policies.nets.architectures import Architecture, HoseiArchitecture, HoseiBaseArchitecture
from policies.nets.networks import Network
from policies.nets.shapes import shapes_of
from policies.nets.towers.hosei import Dropout, Images
from tests.policies.checkpoint.saved import forge_card, small_card

PLANES = SETS[HOSEI].planes
ORDERS = list(permutations(range(3)))
SMALL = HoseiArchitecture(PLANES, 34, width=8, depth=2)
SMALL_BASE = HoseiBaseArchitecture(PLANES, 34, width=3, depth=2)


def network(architecture: Architecture) -> Network:
    """A network with weights and averages as after some training."""
    torch.manual_seed(0)
    made = Network(architecture)
    with torch.no_grad():
        for _ in range(3):
            made(planes(16))
    return made.eval()


def planes(rows: int) -> Tensor:
    return (torch.rand(rows, PLANES, 34) < 0.1).float()


def exchanged(x: Tensor, order: tuple[int, ...]) -> Tensor:
    """Planes with their suits in another order."""
    parts = [x[..., 9 * suit : 9 * suit + 9] for suit in order]
    return torch.cat([*parts, x[..., 27:]], -1)


@pytest.mark.parametrize("order", ORDERS)
def test_exchanging_suits_exchanges_the_images_up_to_the_dense_layer(order: tuple[int, ...]) -> None:
    made, x = network(SMALL), planes(5)

    def images(x: Tensor) -> Images:
        found: Images = made.tower(Images(*map(torch.relu, made.stem_norm(made.stem(x)))))
        return Images(found.suits.reshape(5, 3, *found.suits.shape[1:]), found.honours)

    before, after = images(x), images(exchanged(x, order))
    assert torch.allclose(before.suits[:, list(order)], after.suits, atol=1e-5)
    assert torch.allclose(before.honours, after.honours, atol=1e-5)


def test_suits_exchanged_in_planes_and_dense_weights_exchange_nothing() -> None:
    """So nothing but the dense layer knows which suit is which."""
    made, x = network(SMALL), planes(5)
    wanted = made(exchanged(x, (2, 0, 1)))
    dense = made.head.joined.dense  # type: ignore[union-attr]
    size = 3 * 50 * 4 * 5
    with torch.no_grad():
        suits = dense.weight[:, :size].unflatten(1, (3, -1))
        back = [1, 2, 0]  # the suit that stands at each place after the exchange
        dense.weight[:, :size] = suits[:, back].flatten(1).clone()
    assert torch.allclose(made(x), wanted, atol=1e-5)


def test_every_column_and_plane_counts() -> None:
    for architecture in (SMALL, SMALL_BASE):
        x = planes(2).requires_grad_()
        network(architecture)(x).square().sum().backward()
        assert (x.grad.abs().sum((0, 2)) > 0).all()
        assert (x.grad.abs().sum((0, 1)) > 0).all()


def test_sizes_of_the_paper() -> None:
    shapes = shapes_of(HoseiArchitecture(PLANES, 34, 512, 2))
    assert shapes["stem.suits.weight"] == (512, 220, 1)
    assert shapes["tower.0.suits.weight"] == (50, 1, 3, 3)
    assert shapes["tower.1.honours.weight"] == (50, 50, 3, 1)
    assert shapes["head.joined.dense.weight"] == (300, 50 * 508 * (3 * 5 + 7))
    assert LARGEST_FILE < largest_size(shapes) < LARGEST_HOSEI_FILE
    base = shapes_of(HoseiBaseArchitecture(PLANES, 34, 100, 2))
    assert base["stem.convolution.weight"] == (100, 55, 5, 2)
    assert base["head.joined.dense.weight"] == (300, 100 * 22)


def card(architecture: Architecture, model: str = "discard", features: str = HOSEI) -> Card:
    return small_card(model, architecture=architecture, features=features, without=())  # type: ignore[arg-type]


def test_a_larger_file_is_for_the_larger_network_alone(tmp_path: Path) -> None:
    other = small_card(architecture=Architecture(SETS[LITE].planes, 34, 1000, 50))
    for made, most in ((card(replace(SMALL, width=1000)), LARGEST_HOSEI_FILE), (other, LARGEST_FILE)):
        stored = replace(made.tensors, file="discard-00000000.safetensors", bytes=1 << 40, sha256="0" * 64)
        forge_card(tmp_path, replace(made, tensors=stored))
        with pytest.raises(CheckpointCorrupt, match=f"tensors.bytes.* limit is {most}"):
            load(tmp_path, "discard")


def test_dropout_follows_from_its_seed() -> None:
    layer, x = Dropout(0.25), torch.ones(40, 101)
    first = layer(x)
    assert torch.equal(first, layer(x))
    assert first.unique().tolist() == [0.0, pytest.approx(4 / 3)]
    assert float((first == 0).float().mean()) == pytest.approx(0.25, abs=0.03)
    layer.seed = 1
    assert not torch.equal(first, layer(x))
    assert torch.equal(layer.eval()(x), x)
