"""The networks by their sizes: what a checkpoint's card says of one, without any weights.

`policies.nets.shapes` lists the arrays that belong to each; `policies.nets.fused` plays from them, and
`policies.nets.networks` builds the same network in torch, for those who learn.

Source: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5, table 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from policies.features.table import SETS, Axis

Floats: TypeAlias = NDArray[np.float32]
Arrays: TypeAlias = Mapping[str, Floats]
"""The weights of a network by name, as torch names them."""

TAPS: Final = 3
"""Neighbouring kinds a convolution sees."""
NARROW: Final = 32
"""Channels that remain before a yes/no head combines all kinds."""
HIDDEN: Final = 4
"""Width of a yes/no head's hidden layer, in widths of the tower."""
SUITS: Final = 3
RANKS: Final = 9
SUITED: Final = SUITS * RANKS
"""The columns of the suits; the honours follow."""
HONOURS: Final = 7
PARTS: Final = ("suits", "honours")
"""The parts of a tower with suits apart, which have weights of their own."""

OPPONENTS: Final = 3
SHANTEN_CLASSES: Final = 7
"""Shanten 0 to 5, and 6 or more."""
COPIES: Final = 5
"""Numbers of copies of a kind in a hand: 0 to 4."""
BY_KIND: Final = 2 + COPIES
"""For each opponent and kind: whether it is a wait, whether it deals in, and how many copies there are."""

Outputs: TypeAlias = Literal[2, 4, 8, 34, 735]
TowerName: TypeAlias = Literal["residual", "pooled", "suits", "hosei", "hosei-base"]
TOWERS: Final[tuple[TowerName, ...]] = get_args(TowerName)
HOSEI_TOWERS: Final[tuple[TowerName, ...]] = ("hosei", "hosei-base")
"""Those that see the feature set of Hosei's paper, and no others."""

YES_NO: Final = 2
"""Outputs of the models that answer yes or no: scores of "no" and of "yes"."""
YES: Final = 1
DISCARDS: Final = 34
"""Outputs of the discard model: a score for each kind."""
CRITIC_VALUES: Final = 8
"""Outputs of the critic: points, then final reward, of each of four players."""
HOSEI_CHI: Final = 4
"""Outputs of Hosei's chi model: none; with the called tile the lowest, the middle, the highest of the run."""
HAND_SCORES: Final[Literal[735]] = 735
"""Outputs about the opponents' hands: for each 7 for shanten, and for each of 34 kinds 2 + 5."""


class Architecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="residual"):
    """The architecture of a network; this one has convolutions along all 34 columns.

    Width and depth are free: 256×50 is the paper's size, 64×6 a size for playing and training on a CPU.

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
        identities: the players it can be conditioned on, by name or rank; needs normalisation.
    """

    by_suit: tuple[int, ...] = ()
    squeeze: int = 0
    normalised: bool = True
    identities: tuple[str, ...] = ()


class HoseiArchitecture(Architecture, frozen=True, forbid_unknown_fields=True, tag="hosei"):
    """Hosei's: ``width`` filters in the first layer, then ``depth`` layers of 50; the paper has 512 and 2."""


class HoseiBaseArchitecture(Architecture, frozen=True, forbid_unknown_fields=True, tag="hosei-base"):
    """The model it is compared with: ``width`` filters in each layer, ``depth`` layers after the first."""


Generates: TypeAlias = Literal["diffusion", "autoregressive"]


class DenoiserArchitecture(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="denoiser"
):
    """The architecture of a network that generates hands.

    Attributes:
        generates: what it is for, which decides what it sees and answers.
        planes: input planes of the trunk.
        by_suit: as in the trunk's `SuitsArchitecture`.
        trunk_width: channels of the trunk.
        trunk_depth: blocks of the trunk.
        width: channels of the small network.
        depth: blocks of the small network.
        scale: diffusion: what a hand of four copies is multiplied by; the paper's level of four copies is 1.
        steps: diffusion: steps that it was distilled for; 0 if it was not.
    """

    generates: Generates
    planes: int
    by_suit: tuple[int, ...]
    trunk_width: int
    trunk_depth: int
    width: int
    depth: int
    scale: float = 1.0
    steps: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"scale must be above 0: {self.scale}")

    @property
    def trunk(self) -> SuitsArchitecture:
        """The architecture of the trunk, as that of the discard model it has the tower of."""
        return SuitsArchitecture(self.planes, DISCARDS, self.trunk_width, self.trunk_depth, self.by_suit)


class Weights(NamedTuple):
    """A network on planes, ready to be built in any form.

    Attributes:
        architecture: its sizes.
        arrays: its weights; not to be changed.
    """

    architecture: Architecture
    arrays: Arrays


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


def identities_of(architecture: object) -> tuple[str, ...]:
    """The players that a network of this architecture can be conditioned on."""
    return architecture.identities if isinstance(architecture, SuitsArchitecture) else ()


def fold_identity(arrays: Arrays, number: int) -> dict[str, Floats]:
    """Fold one identity into the weights of a network, which leaves one without identities.

    Args:
        arrays: its weights.
        number: place of the identity.
    """
    weights = dict(arrays)
    for block, added in enumerate(weights.pop("identities")[number]):
        # added before a normalisation, so it moves the mean that the normalisation subtracts
        for part, moved in zip(PARTS, added, strict=True):
            name = f"tower.{block}.first_norm.{part}.running_mean"
            weights[name] = weights[name] - moved
    return weights


def plane_weights(names: Iterable[str]) -> set[str]:
    """The arrays of a network, by name, whose second axis is the input planes (or features).

    >>> plane_weights(["stem.weight", "stem_norm.weight"])
    {'stem.weight'}
    """
    stem = {name for name in names if name.startswith("stem.")}
    return {name for name in stem if name.startswith("stem.squeeze.")} or stem


def parameters_of(arrays: Arrays) -> Arrays:
    """The weights that a network has learned: all but the averages of its normalisation."""
    return {name: array for name, array in arrays.items() if ".running_" not in name}
