"""A trained network rewritten as few matrix products: the same answers in half the time, from plain arrays.

The form that trains best is not the fastest to run. Here batch normalisation is folded into the convolutions,
and a convolution over three neighbouring kinds is one product of ``[columns, 3 * width]`` windows with its
weights. What lies between two products is one pass over memory (`policies.nets.fused_kernels`). For a single
position, torch's own convolution spends most of its time on setup; ONNX Runtime is no faster than this code
(0.15 to 0.16 ms a position at 64×6, 0.71 to 0.60 at 128×10).

The first layer multiplies only what is not 0, and a plane of one number once: of a small set's 8,126 numbers
some 540.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from policies.features.table import KINDS, ONE
from policies.nets import fused_kernels as kernels
from policies.nets.architectures import (
    BY_KIND,
    DISCARDS,
    HAND_SCORES,
    HONOURS,
    HOSEI_TOWERS,
    NARROW,
    OPPONENTS,
    PARTS,
    RANKS,
    SUITED,
    SUITS,
    TAPS,
    Architecture,
    Arrays,
    Floats,
    SuitsArchitecture,
    Weights,
    tower_of,
)
from policies.nets.products import Layer

_EPSILON: Final = np.float32(1e-5)
"""What torch adds to a variance before it divides by its root."""


def can_fuse(architecture: Architecture) -> bool:
    """Whether a tower has a fused form; Hosei's have none."""
    return tower_of(architecture) not in HOSEI_TOWERS


class FusedNetwork:
    """Computes a network's logits for the encoder's planes, on the CPU; cannot be trained.

    Args:
        weights: as trained; not changed.
        blank: planes of its input to ignore.
    """

    def __init__(self, weights: Weights, blank: Sequence[int] = ()) -> None:
        shape, arrays = weights
        self.architecture = shape
        self._apart = isinstance(shape, SuitsArchitecture)
        self._length = RANKS if self._apart else KINDS
        self._stripped = SUITED if self._apart else KINDS
        by_suit = shape.by_suit if isinstance(shape, SuitsArchitecture) else ()
        self._by_suit, self._blank = np.array(by_suit, np.int64), np.array(blank, np.int64)
        self._first = _first_layer(arrays, apart=self._apart)
        self._blocks = [_block(arrays, f"tower.{block}", apart=self._apart) for block in range(shape.depth)]
        self._head = _head(arrays, shape)

    def __call__(self, planes: NDArray[np.uint8]) -> Floats:
        """Score the answers.

        Args:
            planes: ``[B, planes, 34]``, 255 for 1.

        Returns:
            ``[B, outputs]`` logits.
        """
        if not len(planes):
            return _empty(0, self.architecture.outputs)
        x = self._stem_of(planes)
        self._tower_of(x)
        return self._head(x)

    def _stem_of(self, planes: NDArray[np.uint8]) -> Floats:
        """``[B, 34, width]`` after the first convolution."""
        x = _empty(len(planes), KINDS, self.architecture.width)
        columns, honours = self._first
        kernels.first_layer(
            planes,
            self._blank,
            self._by_suit,
            columns.weight,
            honours.weight,
            columns.bias,
            honours.bias,
            self._length,
            x,
        )
        return x

    def _tower_of(self, x: Floats) -> None:
        """Let all blocks change ``[B, 34, width]``."""
        batch, _, width = x.shape
        windows, honours = self._pair(batch, TAPS * width)[0], self._pair(batch, width)[1]
        sums, honour_sums = self._pair(batch, width)
        pooled = PooledMeans(batch, width, self._blocks[0].context)
        for block in self._blocks:
            kernels.unfold(x, self._length, windows, honours, *pooled.means)
            first, second = block.first, block.second
            first.columns.multiply(windows, sums)
            first.honours.multiply(honours, honour_sums)
            kernels.activate(
                sums,
                honour_sums,
                first.columns.bias,
                first.honours.bias,
                *pooled.added_by(block.context),
                self._length,
                windows,
                honours,
            )
            second.columns.multiply(windows, sums)
            second.honours.multiply(honours, honour_sums)
            kernels.add(sums, honour_sums, second.columns.bias, second.honours.bias, x)

    def _pair(
        self, batch: int, channels: int, dtype: DTypeLike = np.float32
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows for the columns on strips, and for the honours that stand alone."""
        rows = batch * self._stripped, batch * (KINDS - self._stripped)
        return np.empty((rows[0], channels), dtype), np.empty((rows[1], channels), dtype)


class PairedLayer(NamedTuple):
    """A layer of the columns on strips, and one of the honours that stand alone."""

    columns: Layer
    honours: Layer


class FusedContext(NamedTuple):
    """Pooled context: what a suit's mean adds to it, and what the means of the hand add to every column."""

    own: Layer
    whole: Layer


class PooledMeans:
    """Buffers for the means of columns and for the pooled context made of them, used by one block at a time.

    Args:
        batch: positions.
        width: channels.
        context: of any block; None if there is no pooled context.

    Attributes:
        means: of each suit ``[B * 3, width]``, and of all suits and the honours ``[B, 2 * width]``; filled by
            `fused_kernels.pool`. The first is empty without pooled context.
    """

    def __init__(self, batch: int, width: int, context: FusedContext | None) -> None:
        suits = batch * SUITS if context is not None else 0
        self.means = _empty(suits, width), _empty(batch, 2 * width)
        make = _empty if context is not None else _zeros
        self._added = make(batch, SUITS, width), make(batch, 2, width)

    def added_by(self, context: FusedContext | None) -> tuple[Floats, Floats]:
        """The context of each suit ``[B, 3, W]``, and of all suits and the honours ``[B, 2, W]``."""
        if context is not None:
            for layer, means, added in zip(context, self.means, self._added, strict=True):
                layer.multiply(means, added.reshape(len(means), -1))
        return self._added


class FusedBlock(NamedTuple):
    """A residual block."""

    first: PairedLayer
    second: PairedLayer
    context: FusedContext | None


def _empty(*shape: int) -> Floats:
    return np.empty(shape, np.float32)


def _zeros(*shape: int) -> Floats:
    return np.zeros(shape, np.float32)


# --- from a network's weights -----------------------------------------------------------------------------


def _first_layer(arrays: Arrays, *, apart: bool) -> PairedLayer:
    """The reduction of planes, if there is one, and the first convolution together.

    Its weights are ``[planes, 3 * width]`` and ``[planes, width]``, for planes in which 255 stands for 1.
    """
    columns, honours = _folded(arrays, "stem.convolution" if apart else "stem", "stem_norm", apart=apart)
    # [3 * planes, width] becomes [planes, 3 * width]: shifted after the product, not before
    width = columns.weight.shape[1]
    by_tap = columns.weight.reshape(TAPS, -1, width).swapaxes(0, 1).reshape(-1, TAPS * width)
    squeeze = arrays.get("stem.squeeze.weight")
    found = []
    for weight, bias in ((by_tap, columns.bias), (honours.weight, honours.bias)):
        whole = weight if squeeze is None else squeeze.reshape(len(squeeze), -1).T @ weight
        found.append(_layer(whole / np.float32(ONE), bias))
    return PairedLayer(*found)


def _block(arrays: Arrays, name: str, *, apart: bool) -> FusedBlock:
    context = None
    if f"{name}.context.suits.weight" in arrays:
        context = _context(arrays, name, apart=apart)
    first, second = (
        _folded(arrays, f"{name}.{each}", f"{name}.{each}_norm", apart=apart) for each in ("first", "second")
    )
    return FusedBlock(first, second, context)


def _folded(arrays: Arrays, convolution: str, norm: str, *, apart: bool) -> PairedLayer:
    """A convolution and the normalisation after it as one layer over windows, or one for each part."""
    if apart:
        return PairedLayer(
            *(_folded_one(arrays, f"{convolution}.{part}", f"{norm}.{part}") for part in PARTS)
        )
    outputs, inputs, _ = arrays[f"{convolution}.weight"].shape
    none = Layer(_zeros(inputs, outputs), _zeros(outputs))
    return PairedLayer(_folded_one(arrays, convolution, norm), none)


def _folded_one(arrays: Arrays, convolution: str, norm: str) -> Layer:
    """``weight [outputs, inputs, taps]`` and the normalisation or scale after it."""
    weight = arrays[f"{convolution}.weight"]
    factor, shift = _scale(arrays, norm)
    scaled = weight.reshape(*weight.shape[:2], -1) * factor[:, None, None]
    return _layer(scaled.transpose(2, 1, 0).reshape(-1, len(weight)), shift)


def _scale(arrays: Arrays, norm: str) -> tuple[Floats, Floats]:
    """Scale and shift of a normalisation."""
    factor, shift = arrays[f"{norm}.weight"], arrays[f"{norm}.bias"]
    variance = arrays.get(f"{norm}.running_var")
    if variance is None:
        return factor, shift
    factor = factor / np.sqrt(variance + _EPSILON)
    return factor, shift - arrays[f"{norm}.running_mean"] * factor


def _context(arrays: Arrays, block: str, *, apart: bool) -> FusedContext:
    """Pooled context, scaled as by the normalisation after it."""
    names = [f"{block}.first_norm.{part}" for part in PARTS] if apart else [f"{block}.first_norm"] * 2
    suits, honours = (_scale(arrays, name)[0][:, None] for name in names)
    own, of_suits, of_honours = (
        arrays[f"{block}.context.{each}.weight"] for each in ("own_suit", "suits", "honours")
    )
    whole = np.concatenate([of_suits * suits, of_honours * honours])
    return FusedContext(*(_layer(each.T, _zeros(len(each))) for each in (own * suits, whole)))


def _layer(weight: Floats, bias: Floats) -> Layer:
    return Layer(np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(bias, np.float32))


# --- heads ------------------------------------------------------------------------------------------------


Head: TypeAlias = Callable[[Floats], Floats]
"""From ``[B, 34, width]`` to ``[B, outputs]``."""


def _head(arrays: Arrays, shape: Architecture) -> Head:
    apart = isinstance(shape, SuitsArchitecture)
    if shape.outputs == DISCARDS:
        return _DiscardHead(arrays, [f"head.{part}" for part in PARTS] if apart else ["head.score"] * 2)
    if shape.outputs == HAND_SCORES:
        return _HandsHead(arrays)
    return _SuitsYesNoHead(arrays, "head") if apart else _YesNoHead(arrays)


class _DiscardHead:
    """One score for each column."""

    def __init__(self, arrays: Arrays, names: Sequence[str]) -> None:
        both = _over_channels(arrays, *names)
        self._weight, self._bias = np.ascontiguousarray(both.weight.T), both.bias

    def __call__(self, x: Floats) -> Floats:
        scores = _empty(len(x), KINDS)
        kernels.scores(x, self._weight, self._bias, scores)
        return scores


class _YesNoHead:
    """A hidden layer over all kinds."""

    def __init__(self, arrays: Arrays) -> None:
        self._narrow = _over_channels(arrays, "head.narrow")
        self._dense = _by_kind(arrays, "head.dense", KINDS)
        self._answer = _dense(arrays, "head.answer")

    def __call__(self, x: Floats) -> Floats:
        each = _relu(self._narrow(x.reshape(-1, x.shape[2])))
        return self._answer(_relu(self._dense(each.reshape(len(x), -1))))


class _SuitsYesNoHead:
    """A hidden layer to which each suit adds its share, and the honours theirs."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._narrow = _over_channels(arrays, *(f"{name}.narrow.{part}" for part in PARTS))
        self._suits = _by_kind(arrays, f"{name}.suits", RANKS)
        self._honours = _by_kind(arrays, f"{name}.honours", HONOURS)
        self._answer = _dense(arrays, f"{name}.answer")

    def __call__(self, x: Floats) -> Floats:
        each = _relu(self._narrow(x.reshape(-1, x.shape[2]))).reshape(len(x), KINDS, -1)
        of_suits = self._suits(each[:, :SUITED, :NARROW].reshape(len(x) * SUITS, -1))
        hidden = of_suits.reshape(len(x), SUITS, -1).sum(1)
        hidden += self._honours(each[:, SUITED:, NARROW:].reshape(len(x), -1))
        return self._answer(_relu(hidden))


class _HandsHead:
    """All scores about the opponents' hands, in one row."""

    def __init__(self, arrays: Arrays) -> None:
        self._shanten = _SuitsYesNoHead(arrays, "head.shanten")
        self._kinds = [_over_channels(arrays, f"head.kinds.{part}") for part in PARTS]

    def __call__(self, x: Floats) -> Floats:
        by_kind = _empty(len(x), OPPONENTS * BY_KIND, KINDS)
        for layer, columns in zip(self._kinds, (slice(SUITED), slice(SUITED, KINDS)), strict=True):
            by_kind[..., columns] = layer(x[:, columns]).swapaxes(1, 2)
        return np.concatenate([self._shanten(x), by_kind.reshape(len(x), -1)], 1)


def _relu(x: Floats) -> Floats:
    return np.maximum(x, np.float32(0.0), out=x)


def _over_channels(arrays: Arrays, *names: str) -> Layer:
    """Convolutions of single columns beside each other."""
    weights = [arrays[f"{name}.weight"] for name in names]
    biases = [arrays[f"{name}.bias"] for name in names]
    return _layer(
        np.concatenate([weight.reshape(len(weight), -1).T for weight in weights], 1), np.concatenate(biases)
    )


def _by_kind(arrays: Arrays, name: str, kinds: int) -> Layer:
    """A dense layer over channels × kinds, as channels lie together for each kind here."""
    weight = arrays[f"{name}.weight"]
    by_kind = weight.reshape(len(weight), -1, kinds).swapaxes(1, 2).reshape(len(weight), -1)
    return _layer(by_kind.T, arrays.get(f"{name}.bias", _zeros(len(weight))))


def _dense(arrays: Arrays, name: str) -> Layer:
    return _layer(arrays[f"{name}.weight"].T, arrays[f"{name}.bias"])
