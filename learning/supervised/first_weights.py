"""Initial weights of a run: new ones, those of an earlier run, or another model's stem and tower.

A tower may be deeper than the one it begins from. Its further blocks then change nothing until they learn to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch
from msgspec.structs import replace

from game.errors import CheckpointMismatch
from policies.checkpoint import Checkpoint
from policies.checkpoint.store import with_weights
from policies.features.table import SETS
from policies.networks import HOSEI_TOWERS, Architecture, Network, plane_weights, tower_of
from policies.towers.residual import ResidualBlock
from policies.towers.suits import SuitsBlock

_ADVICE = "choose the --tower, --preset and --features it was made with"


class NetworkPlan(Protocol):
    """What must be known of a run's plan."""

    @property
    def model(self) -> str:
        """The model in training."""

    @property
    def features(self) -> str:
        """Feature set of the planes."""

    @property
    def architecture(self) -> Architecture:
        """What the network is built from."""


def first_network(plan: NetworkPlan, parent: Checkpoint | None = None) -> Network:
    """The network before its first step.

    A parent of the same model provides all its weights; a deeper network begins with the parent's answers. A
    parent of another model provides its tower, and its stem for the groups of planes that both models see:
    the value of a hand looks the same to all five models, and the discard model has seen the most hands.

    Args:
        plan: the plan of the run; torch's generator provides new weights.
        parent: the checkpoint to begin from.

    Raises:
        CheckpointMismatch: the parent has another tower, another width or more blocks, or is the same kind of
            model with other planes.
    """
    shape = plan.architecture
    if parent is None:
        return Network(shape)
    card, file = parent.card, Path(parent.card.tensors.file)
    theirs = card.architecture
    if not isinstance(theirs, Architecture):
        raise CheckpointMismatch(file, "model", f"{card.model!r} has no tower", "begin from another model")
    grown = replace(theirs, depth=shape.depth) if _may_grow(theirs, shape) else theirs
    if card.model == plan.model and (grown, card.features) != (shape, plan.features):
        problem = f"{theirs} on {card.features}, but the plan wants {shape} on {plan.features}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    if _tower(grown) != _tower(shape):
        problem = f"{_tower(theirs)}, but the plan wants {_tower(shape)}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    if card.model == plan.model:
        ours = with_weights(Network(shape), parent.tensors)
    else:
        ours = _with_tower(Network(shape), plan.features, parent)
    for block in list(ours.tower)[theirs.depth :]:
        assert isinstance(block, ResidualBlock | SuitsBlock)
        block.change_nothing()
    return ours


def _may_grow(theirs: Architecture, ours: Architecture) -> bool:
    return theirs.depth < ours.depth and tower_of(theirs) not in HOSEI_TOWERS


@torch.no_grad()
def _with_tower(network: Network, features: str, parent: Checkpoint) -> Network:
    """A new network with another model's tower, and its stem where both see the same groups."""
    weights = network.state_dict()
    ours, theirs = SETS[features], SETS[parent.card.features]
    shared = [
        (ours.at(group.id), theirs.at(group.id), group.planes)
        for group in ours.groups
        if group in theirs.groups
    ]
    seen = plane_weights(parent.tensors)
    for name, tensor in parent.tensors.items():
        if name.startswith(("tower.", "stem_norm.")):
            weights[name].copy_(tensor)
        elif name in seen:
            for here, there, count in shared:
                weights[name][:, here : here + count] = tensor[:, there : there + count]
    return network


def _tower(architecture: Architecture) -> str:
    """A tower and its size in words."""
    return f"{tower_of(architecture)} {architecture.width}×{architecture.depth}"
