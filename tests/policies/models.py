"""Small networks with random weights, alone or as the checkpoints of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from policies.adaptation.settings import AdaptationSettings
from policies.checkpoint.card import Card
from policies.checkpoint.store import save
from policies.features.table import HOSEI, LITE, LITE_CALL, SETS
from policies.flow.slots import Slot
from policies.nets.architectures import HOSEI_TOWERS, TowerName, Weights, architecture_of, outputs_of
from policies.nets.compute import IN_PLAY, Compute
from policies.nets.networks import Network, arrays_of
from policies.nets.towers.residual import YesNoHead
from policies.nets.towers.suits import SuitsYesNoHead
from policies.play.inference import Averaging, Model, NetworkPolicy

EAGER = AdaptationSettings(trials=0, divergence=0.01)
"""Follows what a few play-outs seem to say, untested, but close options stay close."""

CALLS = (Slot.CHI, Slot.PON, Slot.KAN)


def features_of(slot: Slot, tower: TowerName = "residual") -> str:
    if tower in HOSEI_TOWERS:
        return HOSEI
    return LITE_CALL if slot in CALLS else LITE


def some_planes(count: int = 8, features: str = LITE) -> Tensor:
    """``[count, C, 34]`` uint8, most of them 0."""
    torch.manual_seed(1)
    shape = (count, SETS[features].planes, 34)
    return torch.randint(0, 256, shape, dtype=torch.uint8) * (torch.rand(shape) < 0.3)


def a_network(
    slot: Slot = Slot.DISCARD,
    seed: int = 0,
    width: int = 8,
    depth: int = 2,
    tower: TowerName = "residual",
    squeeze: int = 0,
) -> Network:
    """A network like a trained one: no normalisation average is 0 or 1, and its answers differ."""
    torch.manual_seed(seed)
    shape = architecture_of(tower, features_of(slot, tower), outputs_of(slot, tower), width, depth)
    if squeeze:
        shape = msgspec.structs.replace(shape, squeeze=squeeze)
    network = Network(shape).eval()
    with torch.no_grad():
        for norm in network.modules():
            if isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d):
                norm.running_mean.normal_(0.0, 0.3)
                norm.running_var.uniform_(0.5, 2.0)
                norm.weight.uniform_(0.5, 1.5)
                norm.bias.normal_(0.0, 0.1)
        if isinstance(network.head, YesNoHead | SuitsYesNoHead):
            network.head.answer.weight.mul_(20.0)  # otherwise every answer is close to one half
    return network


def weights_of(network: Network) -> Weights:
    """A network as it plays."""
    return Weights(network.architecture, arrays_of(network.state_dict()))


def a_model(
    slot: Slot = Slot.DISCARD,
    features: str = "",
    without: Sequence[str] = (),
    compute: Compute = IN_PLAY,
    **sizes: Any,
) -> Model:
    """A network like a trained one, ready to answer."""
    weights = weights_of(a_network(slot, **sizes))
    return Model(weights, features or features_of(slot, sizes.get("tower", "residual")), without, compute)


def a_policy(
    averaging: Averaging = 1, seed: int = 0, tower: TowerName = "residual", compute: Compute = IN_PLAY
) -> NetworkPolicy:
    models = {slot: a_model(slot, seed=seed, tower=tower, compute=compute) for slot in Slot}
    return NetworkPolicy(models, averaging)


def save_models(folder: Path, seed: int = 0, tower: TowerName = "residual") -> Path:
    """Checkpoints of all five in a folder."""
    for slot in Slot:
        network = a_network(slot, seed, tower=tower)
        card = Card(
            model=slot.value,
            architecture=network.architecture,
            features=features_of(slot, tower),
            metrics={"accuracy": 0.5},
        )
        save(folder, card, weights_of(network).arrays)
    return folder
