"""The networks of the five models: a tower over the 34 tile kinds, with one of two heads.

After Suphx: columns keep their places, because each has its own meaning; one score per kind for the discard,
"no" and "yes" for the other four. The tower is one of `policies.towers`; width and depth are free: 256×50 is
the paper's size, 64×6 a size for playing and training on a CPU.

Each convolution of the tower is followed by batch normalisation. In play a network uses the averages from
training (``eval``), so a position gives the same numbers alone and in a batch.

Source: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5, table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from game.errors import ConfigError
from policies.features.table import ONE, SETS, Axis
from policies.towers import residual, suits
from policies.towers.pooled import PooledBlock
from policies.towers.residual import YES_NO

Outputs: TypeAlias = Literal[2, 34]
TowerName: TypeAlias = Literal["residual", "pooled", "suits"]
TOWERS: Final[tuple[TowerName, ...]] = get_args(TowerName)

DISCARDS: Final = 34
"""Outputs of the discard model: a score for each kind."""
YES: Final = 1


class Architecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="residual"):
    """What a network is built from, here with convolutions along all 34 columns.

    Attributes:
        planes: number of input planes.
        outputs: 34 for discards, 2 for yes and no.
        width: channels of the tower.
        depth: residual blocks.
    """

    planes: int
    outputs: Outputs
    width: int
    depth: int


class PooledArchitecture(Architecture, frozen=True, forbid_unknown_fields=True, tag="pooled"):
    """The same with pooled context in each block."""


class SuitsArchitecture(Architecture, frozen=True, forbid_unknown_fields=True, tag="suits"):
    """Suits apart, with pooled context in each block.

    Attributes:
        by_suit: the first planes of the groups with one plane a suit, as `suit_planes` finds them.
    """

    by_suit: tuple[int, ...] = ()


class _Layers(NamedTuple):
    """The layers of a tower and the activation between them."""

    stem: Callable[[Any], nn.Module]
    norm: Callable[[int], nn.Module]
    block: Callable[[int], nn.Module]
    discard_head: Callable[[int], nn.Module]
    yes_no_head: Callable[[int], nn.Module]
    relu: Callable[[Any], Any]


_RESIDUAL: Final = _Layers(
    lambda shape: residual.convolution(shape.planes, shape.width),
    residual.norm,
    residual.ResidualBlock,
    residual.DiscardHead,
    residual.YesNoHead,
    functional.relu,
)
_LAYERS: Final[Mapping[type[Architecture], _Layers]] = {
    Architecture: _RESIDUAL,
    PooledArchitecture: _RESIDUAL._replace(block=PooledBlock),
    SuitsArchitecture: _Layers(
        lambda shape: suits.SuitsStem(shape.planes, shape.width, shape.by_suit),
        suits.SuitsNorm,
        suits.SuitsBlock,
        suits.SuitsDiscardHead,
        suits.SuitsYesNoHead,
        suits.relu,
    ),
}


def architecture_of(
    tower: TowerName, features: str, outputs: Outputs, width: int, depth: int
) -> Architecture:
    """The architecture of a network that sees a feature set.

    Args:
        tower: its name.
        features: name of the feature set.
        outputs: 34 for discards, 2 for yes and no.
        width: channels of the tower.
        depth: blocks of the tower.
    """
    planes = SETS[features].planes
    if tower == "residual":
        return Architecture(planes, outputs, width, depth)
    if tower == "pooled":
        return PooledArchitecture(planes, outputs, width, depth)
    return SuitsArchitecture(planes, outputs, width, depth, suit_planes(features))


def tower_named(name: str) -> TowerName:
    """The tower with a name that a user gave.

    Raises:
        ConfigError: there is none.
    """
    for tower in TOWERS:
        if tower == name:
            return tower
    raise ConfigError(f"tower: no tower {name!r}; there are {', '.join(TOWERS)}")


def tower_of(architecture: Architecture) -> TowerName:
    """The name of an architecture's tower.

    >>> tower_of(Architecture(239, 34, 64, 6)), tower_of(SuitsArchitecture(239, 34, 64, 6))
    ('residual', 'suits')
    """
    if isinstance(architecture, SuitsArchitecture):
        return "suits"
    return "pooled" if isinstance(architecture, PooledArchitecture) else "residual"


def suit_planes(features: str) -> tuple[int, ...]:
    """The first plane of each group of a feature set that has one plane a suit.

    >>> suit_planes("lite-239/1")
    (4,)
    """
    chosen = SETS[features]
    return tuple(chosen.at(group.id) for group in chosen.groups if group.axis is Axis.SUITS)


class Network(nn.Module):
    """One of the five models.

    Args:
        architecture: its tower and sizes.

    Raises:
        ValueError: a size is not positive.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        if min(architecture.planes, architecture.width, architecture.depth) < 1:
            raise ValueError(f"planes, width and depth must be at least 1: {architecture}")
        self.architecture = architecture
        layers, width = _LAYERS[type(architecture)], architecture.width
        self.stem = layers.stem(architecture)
        self.stem_norm = layers.norm(width)
        self.tower = nn.Sequential(*(layers.block(width) for _ in range(architecture.depth)))
        self.head = (layers.discard_head if architecture.outputs == DISCARDS else layers.yes_no_head)(width)
        self._relu = layers.relu

    def forward(self, x: Tensor) -> Tensor:
        """Score the answers.

        Args:
            x: ``[B, planes, 34]`` floats from 0 to 1, as `as_input` returns them.

        Returns:
            ``[B, 34]`` or ``[B, 2]`` logits. Masking illegal actions is left to the caller.
        """
        scores: Tensor = self.head(self.tower(self._relu(self.stem_norm(self.stem(x)))))
        return scores


def is_plane_weight(name: str) -> bool:
    """Whether a tensor of a network, by its name, has the input planes as its second axis.

    >>> [is_plane_weight(name) for name in ("stem.weight", "stem_norm.weight")]
    [True, False]
    """
    return name.startswith("stem.")


def as_input(planes: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Convert the encoder's planes to a network's input.

    Args:
        planes: ``[B, C, 34]`` uint8, 255 for 1.
        dtype: dtype of the floats.
    """
    return planes.to(dtype).mul_(1.0 / ONE)


def parameters_of(network: nn.Module) -> int:
    """Number of learned parameters of a network."""
    return sum(parameter.numel() for parameter in network.parameters())


__all__ = [
    "DISCARDS",
    "TOWERS",
    "YES",
    "YES_NO",
    "Architecture",
    "Network",
    "Outputs",
    "PooledArchitecture",
    "SuitsArchitecture",
    "TowerName",
    "architecture_of",
    "as_input",
    "is_plane_weight",
    "parameters_of",
    "suit_planes",
    "tower_named",
    "tower_of",
]
