"""Initial weights of a run: new ones, those of an earlier run, or another network's stem and tower.

A tower may be wider and deeper than its parent's. New blocks begin as the identity, and no old channel uses
the new ones, so that the larger network gives the parent's answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import torch
from msgspec.structs import replace
from torch import Tensor

from kit.errors import CheckpointMismatch, ConfigError
from learning.train.plan import HandsPlan, SamplesPlan
from policies.checkpoint.card import Model
from policies.checkpoint.store import Checkpoint
from policies.features.table import SETS
from policies.flow.slots import Slot
from policies.nets.architectures import (
    DISCARDS,
    HOSEI_TOWERS,
    Architecture,
    SuitsArchitecture,
    identities_of,
    tower_of,
)
from policies.nets.networks import Network, filled
from policies.nets.towers.residual import ResidualBlock
from policies.nets.towers.suits import SuitsBlock

_SQUEEZE: Final = "stem.squeeze.weight"
_ADVICE = "choose the --tower, --preset and --features it was made with"


class Parent(NamedTuple):
    """A checkpoint to begin from: its folder, its model, and whether only its tower counts."""

    folder: Path
    model: Model | Slot
    tower_only: bool = False


def parent_of(plan: SamplesPlan, continue_from: Path | None, tower_from: Path | None) -> Parent | None:
    """The checkpoint to begin from, according to the user's flags.

    Raises:
        ConfigError: both flags are given, or no tower is given for a generator of hands.
    """
    if continue_from is not None and tower_from is not None:
        raise ConfigError("--continue-from and --tower-from: give only one of them")
    if continue_from is not None:
        return Parent(continue_from, plan.model)
    if isinstance(plan, HandsPlan) and plan.distil:
        raise ConfigError("--continue-from: give the folder of the diffusion model to distil")
    generates = isinstance(plan, HandsPlan) and plan.model != "direct"
    if tower_from is not None:
        return (
            Parent(tower_from, "direct") if generates else Parent(tower_from, Slot.DISCARD, tower_only=True)
        )
    if generates:
        raise ConfigError("--tower-from: give the folder of a direct model, whose tower sees the state")
    return None


def first_network(
    plan: SamplesPlan, parent: Checkpoint | None = None, *, tower_only: bool = False
) -> Network:
    """The network before its first step.

    A parent of the same model provides all its weights; a larger network begins with the parent's answers. A
    parent of another model, or one with other planes, provides its tower, and its stem for the groups of
    planes that both have: features of a hand transfer between the five models, and the discard model has seen
    the most hands. A stem that squeezes its planes begins with a low-rank approximation, by SVD, of a
    parent's stem that does not.

    Args:
        plan: the plan of the run; torch's generator provides new weights.
        parent: the checkpoint to begin from.
        tower_only: take only stem and tower, also from a parent of the same model.

    Raises:
        CheckpointMismatch: the parent has another tower, more channels or more blocks, or is the same kind of
            model with other planes, unless only its tower is taken.
    """
    shape = plan.architecture
    if parent is None:
        return Network(shape)
    card, file = parent.card, Path(parent.card.tensors.file)
    theirs = card.architecture
    if not isinstance(theirs, Architecture):
        raise CheckpointMismatch(file, "model", f"{card.model!r} has no tower", "begin from another model")
    whole = card.model == plan.model and not tower_only
    grown = replace(theirs, width=shape.width, depth=shape.depth) if _may_grow(theirs, shape) else theirs
    if isinstance(grown, SuitsArchitecture) and not grown.identities:
        grown = replace(grown, identities=identities_of(shape))  # they begin without effect
    if whole and (grown, card.features) != (shape, plan.features):
        problem = f"{theirs} on {card.features}, but the plan wants {shape} on {plan.features}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    if _tower(grown) != _tower(shape):
        problem = f"{_tower(theirs)}, but the plan wants {_tower(shape)}"
        raise CheckpointMismatch(file, "architecture", problem, _ADVICE)
    ours = Network(shape)
    if whole and grown == theirs:
        return filled(ours, parent.arrays)
    weights = ours.state_dict()
    inherited: tuple[str, ...] = (
        ("tower.", "stem_norm.", "stem.", "head.") if whole else ("tower.", "stem_norm.")
    )
    if (identities_of(theirs), theirs.width, theirs.depth) == (
        identities_of(shape),
        shape.width,
        shape.depth,
    ):
        inherited += ("identities",)
    for name, tensor in _tensors(parent).items():
        if name.startswith(inherited):
            _plant(tensor, weights[name], theirs.width, shape.width)
    if not whole:
        _begin_stem(weights, plan.features, parent)
    for block in list(ours.tower)[theirs.depth :]:
        assert isinstance(block, ResidualBlock | SuitsBlock)
        block.change_nothing()
    return ours


def _may_grow(theirs: Architecture, ours: Architecture) -> bool:
    """Whether the sizes allow it; only the tower suits gets more channels, below the head of discards."""
    deeper, wider = theirs.depth <= ours.depth, theirs.width < ours.width
    if wider and not (isinstance(theirs, SuitsArchitecture) and ours.outputs == DISCARDS):
        return False
    return deeper and theirs.width <= ours.width and tower_of(theirs) not in HOSEI_TOWERS


@torch.no_grad()
def _plant(theirs: Tensor, ours: Tensor, narrow: int, wide: int) -> None:
    """Copy a tensor into a wider one, with zero weights from the new inputs to the old outputs.

    Args:
        theirs: ``[outputs, …]`` or ``[outputs, inputs, …]``.
        ours: the same with more channels; their further outputs keep their new weights.
        narrow: channels of their tower.
        wide: channels of ours.
    """
    if theirs.dim() == 0:  # a counter of steps
        ours.copy_(theirs)
        return
    old = ours[: len(theirs)]
    if theirs.shape[1:] == old.shape[1:]:
        old.copy_(theirs)
        return
    old.zero_()
    # inputs of pooled context are the channels of the suits, then those of the honours
    for part in range(theirs.shape[1] // narrow):
        old[:, part * wide : part * wide + narrow] = theirs[:, part * narrow : (part + 1) * narrow]


@torch.no_grad()
def _begin_stem(weights: Mapping[str, Tensor], features: str, parent: Checkpoint) -> None:
    """Copy the parent's first layer for the groups of planes that both have."""
    same = {name: tensor for name, tensor in _tensors(parent).items() if name.startswith("stem.")}
    if features == parent.card.features and all(
        name in weights and weights[name].shape[1:] == tensor.shape[1:] for name, tensor in same.items()
    ):
        for name, tensor in same.items():
            weights[name][: len(tensor)] = tensor
        return
    ours, theirs = SETS[features], SETS[parent.card.features]
    shared = [
        (ours.at(group.id) + plane, theirs.at(group.id) + plane)
        for group in ours.groups
        if group in theirs.groups
        for plane in range(group.planes)
    ]
    if not shared:
        return
    here, there = (list(planes) for planes in zip(*shared, strict=True))
    first = {name: tensor[:, there] for name, tensor in _first_layer(_tensors(parent)).items()}
    squeeze = weights.get(_SQUEEZE)
    if squeeze is None:
        for name, tensor in first.items():
            weights[name][: len(tensor), here] = tensor
        return
    squeeze.zero_()
    flat = torch.cat([tensor.transpose(0, 1).flatten(1) for tensor in first.values()], 1)
    left, size, right = torch.linalg.svd(flat, full_matrices=False)
    kept = min(len(size), len(squeeze))
    root = size[:kept].sqrt()
    squeeze[:kept, here] = (left[:, :kept] * root).t()[..., None, None]
    sizes = [len(tensor) * tensor[0, 0].numel() for tensor in first.values()]
    factors = (root[:, None] * right[:kept]).split(sizes, 1)
    for (name, tensor), factor in zip(first.items(), factors, strict=True):
        begun = weights[name][: len(tensor)].zero_()
        begun[:, :kept] = factor.view(kept, len(tensor), *tensor.shape[2:]).transpose(0, 1)


def _tensors(checkpoint: Checkpoint) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in checkpoint.arrays.items()}


def _first_layer(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """``[outputs, planes, …]``: the convolutions of a stem as they see its planes, squeezed or not."""
    squeeze = weights.get(_SQUEEZE)
    stem = {name: tensor for name, tensor in weights.items() if name.startswith("stem.") and name != _SQUEEZE}
    if squeeze is None:
        return stem
    return {
        name: torch.einsum("os...,sp->op...", tensor, squeeze.flatten(1)) for name, tensor in stem.items()
    }


def _tower(architecture: Architecture) -> str:
    """A tower and its size in words."""
    return f"{tower_of(architecture)} {architecture.width}×{architecture.depth}"
