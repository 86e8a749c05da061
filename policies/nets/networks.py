"""The networks of the five models: a tower over the 34 tile kinds, with one of two heads.

After Suphx: columns keep their places, because each has its own meaning; one score per kind for the discard,
"no" and "yes" for the other four. The tower is one of `policies.nets.towers`; width and depth are free:
256×50 is the paper's size, 64×6 a size for playing and training on a CPU.

Each convolution of the tower is followed by batch normalisation. In play a network uses the averages from
training (``eval``), so a position gives the same numbers alone and in a batch.

Source: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5, table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from policies.features.table import ONE, SETS, Axis
from policies.nets.towers import hosei, residual, suits
from policies.nets.towers.hands import HAND_SCORES, HandsHead
from policies.nets.towers.residual import YES_NO, PooledBlock
from policies.nets.towers.suits import Columns

Outputs: TypeAlias = Literal[2, 4, 8, 34, 735]
TowerName: TypeAlias = Literal["residual", "pooled", "suits", "hosei", "hosei-base"]
TOWERS: Final[tuple[TowerName, ...]] = get_args(TowerName)
HOSEI_TOWERS: Final[tuple[TowerName, ...]] = ("hosei", "hosei-base")
"""Those that see the feature set of Hosei's paper, and no others."""

DISCARDS: Final = 34
"""Outputs of the discard model: a score for each kind."""
YES: Final = 1
CRITIC_VALUES: Final = 8
"""Outputs of the critic: points, then final reward, of each of four players."""
HOSEI_CHI: Final = 4
"""Outputs of Hosei's chi model: none; with the called tile the lowest, the middle, the highest of the run."""


class Architecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="residual"):
    """The architecture of a network; this one has convolutions along all 34 columns.

    Attributes:
        planes: number of input planes.
        outputs: 34 for discards, 2 for yes and no; 4 in Hosei's chi model; 735 about the opponents' hands;
            8 of the critic.
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
        squeeze: channels to which the planes are reduced before the first layer; 0 to leave them.
        normalised: whether batch normalisation follows each convolution; if not, a learned scale and bias.
        identities: the players it can be asked to play like, by name or rank; needs normalisation.
    """

    by_suit: tuple[int, ...] = ()
    squeeze: int = 0
    normalised: bool = True
    identities: tuple[str, ...] = ()


class HoseiArchitecture(Architecture, frozen=True, forbid_unknown_fields=True, tag="hosei"):
    """Hosei's: ``width`` filters in the first layer, then ``depth`` layers of 50; the paper has 512 and 2."""


class HoseiBaseArchitecture(Architecture, frozen=True, forbid_unknown_fields=True, tag="hosei-base"):
    """The model it is compared with: ``width`` filters in each layer, ``depth`` layers after the first."""


class _Layers(NamedTuple):
    """The layers of a tower and the activation after the first.

    ``block`` is told the number of the block, from 0.
    """

    stem: Callable[[Any], nn.Module]
    norm: Callable[[Any], nn.Module]
    block: Callable[[Any, int], nn.Module]
    head: Callable[[Any], nn.Module]
    relu: Callable[[Any], Any]


def _residual_head(shape: Architecture) -> nn.Module:
    return (residual.DiscardHead if shape.outputs == DISCARDS else residual.YesNoHead)(shape.width)


def _suits_head(shape: Architecture) -> nn.Module:
    if shape.outputs == HAND_SCORES:
        return HandsHead(shape.width)
    if shape.outputs == DISCARDS:
        return suits.SuitsDiscardHead(shape.width)
    return suits.SuitsYesNoHead(shape.width, shape.outputs)


_RESIDUAL: Final = _Layers(
    lambda shape: residual.convolution(shape.planes, shape.width),
    lambda shape: residual.norm(shape.width),
    lambda shape, _: residual.ResidualBlock(shape.width),
    _residual_head,
    functional.relu,
)
_SUITS: Final = _Layers(
    lambda shape: suits.SuitsStem(shape.planes, shape.width, shape.by_suit, shape.squeeze),
    lambda shape: suits.norm(shape.width, normalised=shape.normalised),
    lambda shape, _: suits.SuitsBlock(shape.width, normalised=shape.normalised),
    _suits_head,
    suits.relu_,
)
_LAYERS: Final[Mapping[type[Architecture], _Layers]] = {
    Architecture: _RESIDUAL,
    PooledArchitecture: _RESIDUAL._replace(block=lambda shape, _: PooledBlock(shape.width)),
    SuitsArchitecture: _SUITS,
    HoseiArchitecture: _Layers(
        lambda shape: hosei.HoseiStem(shape.planes, shape.width),
        lambda shape: hosei.HoseiNorm(shape.width),
        lambda _, number: hosei.HoseiLayer(number),
        lambda shape: hosei.HoseiHead(shape.width, shape.depth, shape.outputs),
        hosei.relu,
    ),
    HoseiBaseArchitecture: _Layers(
        lambda shape: hosei.BaseStem(shape.planes, shape.width),
        lambda shape: residual.image_norm(shape.width),
        lambda shape, _: hosei.BaseLayer(shape.width),
        lambda shape: hosei.BaseHead(shape.width, shape.depth, shape.outputs),
        functional.relu,
    ),
}
_PLAIN: Final[Mapping[TowerName, type[Architecture]]] = {
    "residual": Architecture,
    "pooled": PooledArchitecture,
    "hosei": HoseiArchitecture,
    "hosei-base": HoseiBaseArchitecture,
}
"""The towers that are defined by their sizes."""


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
    if tower == "suits":
        return SuitsArchitecture(planes, outputs, width, depth, suit_planes(features))
    return _PLAIN[tower](planes, outputs, width, depth)


def outputs_of(model: str, tower: TowerName) -> Outputs:
    """Number of answers of a model.

    >>> outputs_of("discard", "suits"), outputs_of("chi", "suits"), outputs_of("chi", "hosei")
    (34, 2, 4)
    """
    if model == "discard":
        return DISCARDS
    if model == "direct":
        return HAND_SCORES
    if model == "critic":
        return CRITIC_VALUES
    return HOSEI_CHI if model == "chi" and tower in HOSEI_TOWERS else YES_NO


def tower_of(architecture: Architecture) -> TowerName:
    """The name of an architecture's tower.

    >>> tower_of(Architecture(239, 34, 64, 6)), tower_of(SuitsArchitecture(239, 34, 64, 6))
    ('residual', 'suits')
    """
    return next((name for name, kind in _PLAIN.items() if type(architecture) is kind), "suits")


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
        ValueError: a size is not positive, or not possible for the tower.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        if min(architecture.planes, architecture.width, architecture.depth) < 1:
            raise ValueError(f"planes, width and depth must be at least 1: {architecture}")
        if architecture.outputs == HAND_SCORES and not isinstance(architecture, SuitsArchitecture):
            raise ValueError(f"only the tower suits has the direct heads, not {tower_of(architecture)}")
        self.architecture = architecture
        if names := identities_of(architecture):
            if not getattr(architecture, "normalised", False):
                raise ValueError("identities need a network with normalisation")
            sizes = (len(names), architecture.depth, len(Columns._fields), architecture.width)
            self.identities = nn.Parameter(torch.zeros(sizes))
        layers = _LAYERS[type(architecture)]
        self.stem = layers.stem(architecture)
        self.stem_norm = layers.norm(architecture)
        self.tower = nn.Sequential(
            *(layers.block(architecture, number) for number in range(architecture.depth))
        )
        self.head = layers.head(architecture)
        self._relu = layers.relu

    def forward(self, x: Tensor, who: Tensor | None = None) -> Tensor:
        """Score the answers.

        Args:
            x: ``[B, planes, 34]`` floats from 0 to 1, as `as_input` returns them.
            who: ``[B]`` the identity of the player to answer like, by its place; -1 or None for anybody.

        Returns:
            ``[B, outputs]`` logits. Masking illegal actions is left to the caller.
        """
        columns = self._relu(self.stem_norm(self.stem(x)))
        if who is None:
            columns = self.tower(columns)
        else:
            rows = torch.cat([self.identities, torch.zeros_like(self.identities[:1])])[who]
            for block, added in zip(self.tower, rows[..., None, None].unbind(1), strict=True):
                columns = block(columns, Columns(*added.unbind(1)))
        scores: Tensor = self.head(columns)
        return scores


def identities_of(architecture: object) -> tuple[str, ...]:
    """The players that a network of this architecture can be asked to play like."""
    return architecture.identities if isinstance(architecture, SuitsArchitecture) else ()


def weights_asked_as(tensors: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """The weights of a network without identities that answers as this one does when asked as one of them.

    Args:
        tensors: its weights by name.
        number: place of the identity.
    """
    weights = dict(tensors)
    for block, added in enumerate(weights.pop("identities")[number]):
        # added before a normalisation, so it moves the mean that the normalisation subtracts
        for part, moved in zip(Columns._fields, added, strict=True):
            name = f"tower.{block}.first_norm.{part}.running_mean"
            weights[name] = weights[name] - moved
    return weights


def plane_weights(names: Iterable[str]) -> set[str]:
    """The tensors of a network, by name, whose second axis is the input planes (or features).

    >>> plane_weights(["stem.weight", "stem_norm.weight"])
    {'stem.weight'}
    """
    stem = {name for name in names if name.startswith("stem.")}
    return {name for name in stem if name.startswith("stem.squeeze.")} or stem


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
    "CRITIC_VALUES",
    "DISCARDS",
    "HAND_SCORES",
    "HOSEI_CHI",
    "HOSEI_TOWERS",
    "TOWERS",
    "YES",
    "YES_NO",
    "Architecture",
    "HoseiArchitecture",
    "HoseiBaseArchitecture",
    "Network",
    "Outputs",
    "PooledArchitecture",
    "SuitsArchitecture",
    "TowerName",
    "architecture_of",
    "as_input",
    "identities_of",
    "outputs_of",
    "parameters_of",
    "plane_weights",
    "suit_planes",
    "tower_of",
    "weights_asked_as",
]
