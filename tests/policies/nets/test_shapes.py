from __future__ import annotations

from typing import get_args

import msgspec
import pytest
import torch

from policies.features.table import HOSEI, LITE
from policies.nets.architectures import (
    TOWERS,
    Architecture,
    DenoiserArchitecture,
    Generates,
    SuitsArchitecture,
    architecture_of,
    outputs_of,
)
from policies.nets.conditioned import DenoiserNetwork
from policies.nets.networks import Network, empty, network_of
from policies.nets.shapes import shapes_of
from tests.policies.checkpoint.saved import small_denoiser
from tests.policies.models import a_network, weights_of

SUITS = SuitsArchitecture(239, 34, 4, 2, (4,))
ON_PLANES = [
    *(
        architecture_of(tower, HOSEI if "hosei" in tower else LITE, outputs_of(model, tower), 12, 2)
        for tower in TOWERS
        for model in ("discard", "chi")
    ),
    *(msgspec.structs.replace(SUITS, outputs=outputs) for outputs in (2, 8, 735)),
    *(msgspec.structs.replace(SUITS, **each) for each in ({"squeeze": 3}, {"normalised": False})),
    msgspec.structs.replace(SUITS, identities=("LuckyJ", "7-dan")),
]
OF_HANDS = [small_denoiser(generates, trunk_depth=2, width=3, depth=2) for generates in get_args(Generates)]


@pytest.mark.parametrize("architecture", [*ON_PLANES, *OF_HANDS], ids=str)
def test_shapes_are_those_of_the_network(architecture: Architecture | DenoiserArchitecture) -> None:
    kind = DenoiserNetwork if isinstance(architecture, DenoiserArchitecture) else Network
    found = {name: tuple(tensor.shape) for name, tensor in empty(kind, architecture).state_dict().items()}
    assert shapes_of(architecture) == found


def test_rebuilding_a_network_rolls_no_dice() -> None:
    weights = weights_of(a_network())
    torch.manual_seed(1)
    network_of(weights)
    rolled = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(rolled, torch.rand(1))
