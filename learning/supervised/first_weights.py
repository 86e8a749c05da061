"""Initial weights of a run: new ones, those of an earlier run, or another model's stem and tower."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from game.errors import CheckpointMismatch
from learning.supervised.plan import TrainingPlan
from policies.checkpoint import Checkpoint, network_of
from policies.features.table import SETS
from policies.networks import DISCARDS, YES_NO, Architecture, Network
from policies.slots import Slot

_ADVICE = "choose the --preset and --features it was made with"


def first_network(plan: TrainingPlan, parent: Checkpoint | None = None) -> Network:
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
    shape = Architecture(
        planes=SETS[plan.features].planes,
        outputs=DISCARDS if plan.model is Slot.DISCARD else YES_NO,
        width=plan.width,
        depth=plan.depth,
    )
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
    if (theirs.width, theirs.depth) != (plan.width, plan.depth):
        problem = f"{theirs.width}×{theirs.depth}, but the plan wants {plan.width}×{plan.depth}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    return network if card.model == plan.model else _with_tower(Network(shape), plan.features, parent)


@torch.no_grad()
def _with_tower(network: Network, features: str, parent: Checkpoint) -> Network:
    """A new network with another model's tower, and its stem where both see the same groups."""
    weights = network.state_dict()
    for name, tensor in parent.tensors.items():
        if name.startswith(("tower.", "stem_norm.")):
            weights[name].copy_(tensor)
    stem: Tensor = weights["stem.weight"]
    ours, theirs = SETS[features], SETS[parent.card.features]
    for group in ours.groups:
        if group in theirs.groups:
            here, there = ours.at(group.id), theirs.at(group.id)
            stem[:, here : here + group.planes] = parent.tensors["stem.weight"][
                :, there : there + group.planes
            ]
    return network
