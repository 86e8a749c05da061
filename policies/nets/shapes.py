"""Names and shapes of the arrays of every network that a checkpoint can contain, as torch names them.

A checkpoint is checked against them before anything is made of it. A test compares them with the networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from policies.features.table import COPIES as COPIES_OF_KIND
from policies.features.table import KINDS
from policies.nets.architectures import (
    BY_KIND,
    DISCARDS,
    HAND_SCORES,
    HIDDEN,
    HONOURS,
    NARROW,
    OPPONENTS,
    PARTS,
    RANKS,
    SHANTEN_CLASSES,
    SUITS,
    TAPS,
    Architecture,
    DenoiserArchitecture,
    HoseiArchitecture,
    HoseiBaseArchitecture,
    PooledArchitecture,
    SuitsArchitecture,
    tower_of,
)

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = dict[str, Shape]
"""Shape of each array by its name."""
_Named: TypeAlias = Iterator[tuple[str, Shape]]

# the generators' planes beside the trunk, and answers for each kind
PLAYERS: Final = 4
MOMENTS: Final = 16
"""Sines and cosines that describe a moment of generation."""
INPUTS: Final = {"diffusion": 2 * PLAYERS + 4, "autoregressive": 3 + 1 + 3}
"""Diffusion: copies and red fives of the four hands; copies unseen; sizes of the three hands. Autoregressive:
copies placed in the three hands; copies still unseen; tiles missing in each."""
OUTPUTS: Final = {"diffusion": 2 * PLAYERS, "autoregressive": 6}
"""Diffusion: copies and red fives of the four clean hands. Autoregressive: for each opponent the score of the
kind as the next tile, and whether one of the copies of a five is red."""

FILTERS: Final = 50
"""Filters of the layers of Hosei's network after the first."""
DENSE: Final = 300
"""Neurons of its dense layer."""
SPAN: Final = 3
"""Filters, and kinds of a suit, that one of its filters sees."""
BASE_KERNEL: Final = (5, 2)
"""Kinds and copies that a filter of the base model sees."""


@lru_cache(maxsize=16)  # the models of a folder often have the same
def shapes_of(architecture: Architecture | DenoiserArchitecture) -> Shapes:
    """Names and shapes of a network's arrays.

    Raises:
        ValueError: a size is not positive, or not possible for the tower.
    """
    if isinstance(architecture, DenoiserArchitecture):
        return dict(_denoiser(architecture))
    check_sizes(architecture)
    if isinstance(architecture, HoseiArchitecture):
        return dict(_hosei(architecture))
    if isinstance(architecture, HoseiBaseArchitecture):
        return dict(_hosei_base(architecture))
    if isinstance(architecture, SuitsArchitecture):
        return dict(_suits(architecture))
    return dict(_residual(architecture))


def check_sizes(architecture: Architecture) -> None:
    """Check that a network can be built.

    Raises:
        ValueError: a size is not positive, or not possible for the tower.
    """
    if min(architecture.planes, architecture.width, architecture.depth) < 1:
        raise ValueError(f"planes, width and depth must be at least 1: {architecture}")
    if isinstance(architecture, SuitsArchitecture):
        if architecture.identities and not architecture.normalised:
            raise ValueError("identities need a network with normalisation")
    elif architecture.outputs == HAND_SCORES:
        raise ValueError(f"only the tower suits has the direct heads, not {tower_of(architecture)}")


def hosei_inputs(width: int, depth: int) -> int:
    """Numbers that the dense layer of Hosei's network sees.

    Raises:
        ValueError: the layers leave nothing of the images.
    """
    lost = (SPAN - 1) * depth
    if lost >= min(width, RANKS):
        raise ValueError(f"{depth} layers leave nothing of an image of {width}×{RANKS}")
    return FILTERS * (width - lost) * (SUITS * (RANKS - lost) + HONOURS)


def base_inputs(width: int, depth: int) -> int:
    """Numbers that the dense layer of the base model sees.

    Raises:
        ValueError: the layers leave nothing of the images.
    """
    kinds, copies = (
        side - (kernel - 1) * (depth + 1)
        for side, kernel in zip((KINDS, COPIES_OF_KIND), BASE_KERNEL, strict=True)
    )
    if min(kinds, copies) < 1:
        raise ValueError(f"{depth + 1} layers leave nothing of an image of {KINDS}×{COPIES_OF_KIND}")
    return width * kinds * copies


def base_channels(planes: int) -> int:
    """Features that the base model sees as one channel each.

    Raises:
        ValueError: there is not a plane for each copy.
    """
    if planes % COPIES_OF_KIND:
        raise ValueError(f"{planes} planes are not features of {COPIES_OF_KIND} copies")
    return planes // COPIES_OF_KIND


def _norm(name: str, width: int, *, normalised: bool = True) -> _Named:
    averages = ("running_mean", "running_var") if normalised else ()
    for each in ("weight", "bias", *averages):
        yield f"{name}.{each}", (width,)


def _layer(name: str, *shape: int) -> _Named:
    """A dense layer or a convolution with a bias."""
    yield f"{name}.weight", shape
    yield f"{name}.bias", shape[:1]


def _context(name: str, width: int) -> _Named:
    for each, inputs in (("own_suit", width), ("suits", 2 * width), ("honours", 2 * width)):
        yield f"{name}.{each}.weight", (width, inputs)


# --- all columns on one strip -----------------------------------------------------------------------------


def _residual(shape: Architecture) -> _Named:
    width = shape.width
    yield "stem.weight", (width, shape.planes, TAPS)
    yield from _norm("stem_norm", width)
    for block in range(shape.depth):
        for each in ("first", "second"):
            yield f"tower.{block}.{each}.weight", (width, width, TAPS)
            yield from _norm(f"tower.{block}.{each}_norm", width)
        if isinstance(shape, PooledArchitecture):
            yield from _context(f"tower.{block}.context", width)
    if shape.outputs == DISCARDS:
        yield from _layer("head.score", 1, width, 1)
    else:
        yield from _layer("head.narrow", NARROW, width, 1)
        yield from _layer("head.dense", HIDDEN * width, NARROW * KINDS)
        yield from _layer("head.answer", shape.outputs, HIDDEN * width)


# --- suits apart ------------------------------------------------------------------------------------------


def _apart(name: str, inputs: int, outputs: int) -> _Named:
    yield f"{name}.suits.weight", (outputs, inputs, 1, TAPS)
    yield f"{name}.honours.weight", (outputs, inputs, 1, 1)


def _norms(name: str, width: int, *, normalised: bool) -> _Named:
    for part in PARTS:
        yield from _norm(f"{name}.{part}", width, normalised=normalised)


def _scores(name: str, width: int, outputs: int) -> _Named:
    for part in PARTS:
        yield from _layer(f"{name}.{part}", outputs, width, 1, 1)


def _suits_block(name: str, width: int, *, normalised: bool) -> _Named:
    yield from _apart(f"{name}.first", width, width)
    yield from _context(f"{name}.context", width)
    yield from _norms(f"{name}.first_norm", width, normalised=normalised)
    yield from _apart(f"{name}.second", width, width)
    yield from _norms(f"{name}.second_norm", width, normalised=normalised)


def _suits_yes_no(name: str, width: int, outputs: int) -> _Named:
    yield from _scores(f"{name}.narrow", width, NARROW)
    yield from _layer(f"{name}.suits", HIDDEN * width, NARROW * RANKS)
    yield f"{name}.honours.weight", (HIDDEN * width, NARROW * HONOURS)
    yield from _layer(f"{name}.answer", outputs, HIDDEN * width)


def _suits_tower(shape: SuitsArchitecture) -> _Named:
    if shape.identities:
        yield "identities", (len(shape.identities), shape.depth, len(PARTS), shape.width)
    if shape.squeeze:
        yield "stem.squeeze.weight", (shape.squeeze, shape.planes, 1, 1)
    yield from _apart("stem.convolution", shape.squeeze or shape.planes, shape.width)
    yield from _norms("stem_norm", shape.width, normalised=shape.normalised)
    for block in range(shape.depth):
        yield from _suits_block(f"tower.{block}", shape.width, normalised=shape.normalised)


def _suits(shape: SuitsArchitecture) -> _Named:
    yield from _suits_tower(shape)
    if shape.outputs == DISCARDS:
        yield from _scores("head", shape.width, 1)
    elif shape.outputs == HAND_SCORES:
        yield from _suits_yes_no("head.shanten", shape.width, OPPONENTS * SHANTEN_CLASSES)
        yield from _scores("head.kinds", shape.width, OPPONENTS * BY_KIND)
    else:
        yield from _suits_yes_no("head", shape.width, shape.outputs)


def _denoiser(shape: DenoiserArchitecture) -> _Named:
    if min(shape.width, shape.depth, shape.trunk_width, shape.trunk_depth) < 1:
        raise ValueError(f"width and depth must be at least 1: {shape}")
    yield "without_trunk", (shape.trunk_width,)
    for name, of_trunk in _suits_tower(shape.trunk):
        yield f"trunk.{name}", of_trunk
    yield from _apart("merge", shape.trunk_width + INPUTS[shape.generates], shape.width)
    yield from _layer("times", (shape.depth + 1) * shape.width, MOMENTS)
    for block in range(shape.depth):
        yield from _suits_block(f"blocks.{block}", shape.width, normalised=False)
    yield from _scores("answer", shape.width, OUTPUTS[shape.generates])


# --- Hosei's ----------------------------------------------------------------------------------------------


def _hosei(shape: HoseiArchitecture) -> _Named:
    inputs = hosei_inputs(shape.width, shape.depth)
    for part in PARTS:
        yield f"stem.{part}.weight", (shape.width, shape.planes, 1)
        yield from _norm(f"stem_norm.{part}", shape.width)
    for layer in range(shape.depth):
        for part, kinds in zip(PARTS, (SPAN, 1), strict=True):
            yield f"tower.{layer}.{part}.weight", (FILTERS, FILTERS if layer else 1, SPAN, kinds)
            yield from _norm(f"tower.{layer}.{part}_norm", FILTERS)
    yield from _joined(inputs, shape.outputs)


def _hosei_base(shape: HoseiBaseArchitecture) -> _Named:
    yield "stem.convolution.weight", (shape.width, base_channels(shape.planes), *BASE_KERNEL)
    yield from _norm("stem_norm", shape.width)
    for layer in range(shape.depth):
        yield f"tower.{layer}.convolution.weight", (shape.width, shape.width, *BASE_KERNEL)
        yield from _norm(f"tower.{layer}.norm", shape.width)
    yield from _joined(base_inputs(shape.width, shape.depth), shape.outputs)


def _joined(inputs: int, outputs: int) -> _Named:
    yield "head.joined.dense.weight", (DENSE, inputs)
    yield from _norm("head.joined.norm", DENSE)
    yield from _layer("head.joined.answer", outputs, DENSE)
