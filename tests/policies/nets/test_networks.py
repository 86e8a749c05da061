from __future__ import annotations

from typing import get_args

import pytest
import torch

from policies.features.permute import KIND_MAPS, SUIT_PERMUTATIONS, permute_planes
from policies.features.table import LITE, LITE_CALL
from policies.nets.architectures import HAND_SCORES, OPPONENTS, SHANTEN_CLASSES, Outputs, architecture_of
from policies.nets.networks import Network, as_input
from tests.policies.models import a_network, some_planes

OF_HANDS = OPPONENTS * SHANTEN_CLASSES
"""Scores of the direct heads that belong to no kind."""


@pytest.mark.parametrize("features", [LITE, LITE_CALL])
@pytest.mark.parametrize("outputs", get_args(Outputs))
def test_exchanging_suits_in_the_planes_exchanges_the_scores(features: str, outputs: Outputs) -> None:
    torch.manual_seed(2)
    network = Network(architecture_of("suits", features, outputs, 16, 3))
    planes = some_planes(features=features)
    network.train()(as_input(planes))  # no average stays 0 or 1
    network.eval()
    with torch.no_grad():
        wanted = network(as_input(planes))
        for number in range(1, SUIT_PERMUTATIONS):
            exchanged = torch.from_numpy(permute_planes(planes.numpy(), features, number))
            assert not torch.equal(exchanged, planes)
            scores = network(as_input(exchanged))
            kinds = torch.from_numpy(KIND_MAPS[number]).long()
            if outputs == 34:
                scores = scores[:, kinds]
            elif outputs == HAND_SCORES:
                by_kind = scores[:, OF_HANDS:].unflatten(1, (-1, 34))[:, :, kinds]
                scores = torch.cat([scores[:, :OF_HANDS], by_kind.flatten(1)], 1)
            torch.testing.assert_close(scores, wanted, rtol=1e-5, atol=1e-5)


def test_suits_see_each_other_through_pooled_context_only() -> None:
    network, planes = a_network(tower="suits"), some_planes()
    changed = planes.clone()
    changed[:, :, 26] = 255 - changed[:, :, 26]
    with torch.no_grad():
        moved = (network(as_input(changed)) - network(as_input(planes))).abs().amax(0)
        assert (moved > 1e-4).all()
        for block in network.tower:
            block.context.own_suit.weight.zero_()
            block.context.suits.weight.zero_()
            block.context.honours.weight.zero_()
        alone = (network(as_input(changed)) - network(as_input(planes))).abs().amax(0)
    assert (alone[:18] == 0).all()
    assert (alone[18:27] > 0).any()
    assert (alone[27:] == 0).all()
