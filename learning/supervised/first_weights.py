"""Initial weights of a run: new ones, those of an earlier run, or another model's stem and tower."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch

from game.errors import CheckpointMismatch
from policies.checkpoint import Checkpoint, network_of
from policies.features.table import SETS
from policies.networks import Architecture, Network, plane_weights, tower_of

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

    A parent of the same model provides all its weights. A parent of another model provides its tower, and its
    stem for the groups of planes that both models see: the value of a hand looks the same to all five models,
    and the discard model has seen the most hands.

    Args:
        plan: the plan of the run; torch's generator provides new weights.
        parent: the checkpoint to begin from.

    Raises:
        CheckpointMismatch: the parent has another size, or is the same kind of model with other planes.
    """
    shape = plan.architecture
    if parent is None:
        return Network(shape)
    card, file = parent.card, Path(parent.card.tensors.file)
    network = network_of(parent)
    if not isinstance(network, Network):
        raise CheckpointMismatch(file, "model", f"{card.model!r} has no tower", "begin from another model")
    theirs = network.architecture
    if card.model == plan.model and (theirs, card.features) != (shape, plan.features):
        problem = f"{theirs} on {card.features}, but the plan wants {shape} on {plan.features}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    if _tower(theirs) != _tower(shape):
        problem = f"{_tower(theirs)}, but the plan wants {_tower(shape)}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    return network if card.model == plan.model else _with_tower(Network(shape), plan.features, parent)


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
