"""Oracle guiding: hidden features, dropped at random until none is left.

A guided network sees what its player sees, and beside it the other hands and the wall, each number of which
is kept with probability γ. At γ = 1 it is the paper's oracle, at γ = 0 a normal network whose weights for
hidden planes can be cut off.

Source: Suphx, arXiv:2003.13590, section 3.3, equation 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.observation import HiddenTiles
from game.tiles import TILES, UNSEEN
from kit.errors import ConfigError
from policies.features.encode import Planes
from policies.features.table import GUIDED, LITE, SETS
from policies.nets.architectures import (
    Arrays,
    Floats,
    SuitsArchitecture,
    Weights,
    architecture_of,
    plane_weights,
)
from policies.nets.shapes import shapes_of

SEEN_PLANES: Final = SETS[LITE].planes
"""The first planes of the guided set; the rest are hidden from the player."""


class HiddenPart(NamedTuple):
    """The tiles hidden from the players of some states.

    Attributes:
        walls: ``[N, 136]`` int16 in deal order.
        seeds: ``[N]`` uint64, which determine the numbers that are kept.
    """

    walls: NDArray[np.int16]
    seeds: NDArray[np.uint64]


def hidden_part(hidden: Sequence[HiddenTiles | None]) -> HiddenPart:
    """Hidden tiles as arrays; unknown at a real table."""
    walls = np.full((len(hidden), TILES), UNSEEN, np.int16)
    seeds = np.zeros(len(hidden), np.uint64)
    for row, each in enumerate(hidden):
        if each is not None:
            walls[row], seeds[row] = each.wall, each.seed
    return HiddenPart(walls, seeds)


def drop_hidden(planes: Planes, seeds: NDArray[np.uint64], gamma: float) -> None:
    """Keep each number of the hidden planes with probability γ; the others become 0.

    Args:
        planes: ``[N, 303, 34]`` of the guided set, changed.
        seeds: ``[N]``; the same seed keeps the same numbers at the same γ, and more at a larger one.
        gamma: 0 to 1.
    """
    hidden = planes[:, SEEN_PLANES:]
    if gamma >= 1.0:
        return
    if gamma <= 0.0:
        hidden[:] = 0
        return
    for row, seed in zip(hidden, seeds, strict=True):
        row[np.random.Generator(np.random.PCG64(int(seed))).random(row.shape) >= gamma] = 0


def guided(weights: Weights) -> Weights:
    """A network that sees hidden planes too, and gives them no weight yet.

    Args:
        weights: a network of the tower `suits`, for the lite set.

    Raises:
        ConfigError: it is another network.
    """
    shape = weights.architecture
    if type(shape) is not SuitsArchitecture or shape.planes != SEEN_PLANES:
        raise ConfigError(f"only a network with suits apart for {LITE} can be guided, not {shape}")
    wide = architecture_of("suits", GUIDED, shape.outputs, shape.width, shape.depth)
    assert isinstance(wide, SuitsArchitecture)
    wide = msgspec.structs.replace(
        wide, squeeze=shape.squeeze, normalised=shape.normalised, identities=shape.identities
    )
    arrays, shapes = dict(weights.arrays), shapes_of(wide)
    for name in plane_weights(arrays):
        seen = arrays[name]
        arrays[name] = np.zeros(shapes[name], np.float32)
        arrays[name][:, :SEEN_PLANES] = seen
    return Weights(wide, arrays)


def without_hidden(arrays: Arrays) -> dict[str, Floats]:
    """The weights of a guided network for the planes that its player sees: those of a normal network."""
    seen = plane_weights(arrays)
    return {
        name: np.ascontiguousarray(array[:, :SEEN_PLANES]) if name in seen else array
        for name, array in arrays.items()
    }
