"""A trained network rewritten as few matrix products: the same answers in half the time.

The form that trains best is not the fastest to run. Here batch normalisation is folded into the convolutions,
and a convolution over three neighbouring kinds is one product of ``[columns, 3 * width]`` windows with its
weights. What lies between two products is one pass over memory (`policies.nets.fused_kernels`). For a single
position, torch's own convolution spends most of its time on setup; ONNX Runtime is no faster than this code
(`docs/history/measurements.md`).

The first layer multiplies only what is not 0, and a plane of one number once: of a small set's 8,126 numbers
some 540.

In bf16 only the operands of the products between blocks are rounded; everything else stays float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor, nn

from policies.features.table import KINDS, ONE
from policies.nets import fused_kernels as kernels
from policies.nets.compute import FloatPrecision
from policies.nets.device import inference
from policies.nets.networks import HOSEI_TOWERS, Network, SuitsArchitecture, tower_of
from policies.nets.towers.residual import (
    HONOURS,
    NARROW,
    RANKS,
    SUITED,
    SUITS,
    TAPS,
    DiscardHead,
    PooledBlock,
    PooledContext,
    ResidualBlock,
    YesNoHead,
)
from policies.nets.towers.suits import (
    ChannelScale,
    SuitsBlock,
    SuitsConvolution,
    SuitsDiscardHead,
    SuitsNorm,
    SuitsScale,
    SuitsScores,
    SuitsStem,
    SuitsYesNoHead,
)

Floats: TypeAlias = NDArray[np.float32]

_DTYPES: Final[dict[FloatPrecision, torch.dtype]] = {"fp32": torch.float32, "bf16": torch.bfloat16}


def can_fuse(network: Network) -> bool:
    """Whether a network's tower has a fused form; Hosei's have none."""
    return tower_of(network.architecture) not in HOSEI_TOWERS


class FusedNetwork:
    """Computes a network's logits for the encoder's planes, on the CPU; cannot be trained.

    Args:
        network: as trained; not changed.
        blank: planes of its input to ignore.
        precision: of the operands of its products.
    """

    def __init__(
        self, network: Network, blank: Sequence[int] = (), precision: FloatPrecision = "fp32"
    ) -> None:
        self.architecture = network.architecture
        self._apart = isinstance(network.architecture, SuitsArchitecture)
        self._length = RANKS if self._apart else KINDS
        self._stripped = SUITED if self._apart else KINDS
        by_suit = network.architecture.by_suit if isinstance(network.architecture, SuitsArchitecture) else ()
        self._by_suit, self._blank = np.array(by_suit, np.int64), np.array(blank, np.int64)
        dtype = _DTYPES[precision]
        with torch.inference_mode():
            self._first = _first_layer(network)
            self._blocks = [_block(block).to(dtype) for block in network.tower]
            if isinstance(network.head, DiscardHead | SuitsDiscardHead):
                self._score = _discard_head(network.head)
            else:
                self._head = [layer.to(dtype) for layer in _head(network.head)]

    def __call__(self, planes: Tensor) -> Tensor:
        """Score the answers.

        Args:
            planes: ``[B, planes, 34]`` uint8, 255 for 1.

        Returns:
            ``[B, 34]`` or ``[B, 2]`` logits.
        """
        with inference():
            x = self._seen(planes)
            if self.architecture.outputs == KINDS:
                return _scores(x, self._score)
            return self._head[-1](self._hidden(x))

    def _seen(self, planes: Tensor) -> Floats:
        """``[B, 34, width]`` after the tower."""
        x = self._stem_of(planes)
        self._tower_of(x)
        return x

    def _stem_of(self, planes: Tensor) -> Floats:
        """``[B, 34, width]`` after the first convolution."""
        x = _empty(len(planes), KINDS, self.architecture.width)
        columns, honours = self._first
        kernels.first_layer(
            planes.numpy(),
            self._blank,
            self._by_suit,
            columns.weight.numpy(),
            honours.weight.numpy(),
            columns.added,
            honours.added,
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
            kernels.spread(x, self._length, windows, honours, *pooled.means)
            first, second = block.first, block.second
            first.columns.multiply(windows, sums)
            first.honours.multiply(honours, honour_sums)
            kernels.activate(
                sums,
                honour_sums,
                first.columns.added,
                first.honours.added,
                *pooled.said(block.context),
                self._length,
                windows,
                honours,
            )
            second.columns.multiply(windows, sums)
            second.honours.multiply(honours, honour_sums)
            kernels.add(sums, honour_sums, second.columns.added, second.honours.added, x)

    def _hidden(self, x: Floats) -> Tensor:
        """``[B, hidden]``: the layer before the answers."""
        narrow, *dense, _ = self._head
        each = narrow(torch.from_numpy(x).view(-1, x.shape[2])).relu_().view(len(x), KINDS, -1)
        if self._apart:
            suits, honours = dense
            of_suits = suits(each[:, :SUITED, :NARROW].reshape(len(x) * SUITS, -1)).view(len(x), SUITS, -1)
            hidden = of_suits.sum(1) + honours(each[:, SUITED:, NARROW:].flatten(1))
        else:
            hidden = dense[0](each.flatten(1))
        return hidden.relu_()

    def _pair(
        self, batch: int, channels: int, dtype: DTypeLike = np.float32
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows for the columns on strips, and for the honours that stand alone."""
        rows = batch * self._stripped, batch * (KINDS - self._stripped)
        return np.empty((rows[0], channels), dtype), np.empty((rows[1], channels), dtype)


class Layer(NamedTuple):
    """``weight [inputs, outputs]`` and ``bias [outputs]``."""

    weight: Tensor
    bias: Tensor

    def to(self, dtype: torch.dtype) -> Layer:
        """The layer with its weight in a type and its bias in float32."""
        weight = self.weight.detach().to(dtype).contiguous()
        return Layer(weight, self.bias.detach().float().contiguous())

    @property
    def added(self) -> Floats:
        """The bias."""
        values: Floats = self.bias.numpy()
        return values

    def multiply(self, rows: Floats, out: Floats) -> None:
        """The product with the weight, without bias."""
        source, target = torch.from_numpy(rows), torch.from_numpy(out)
        if self.weight.dtype == torch.float32:
            torch.mm(source, self.weight, out=target)
        else:
            target.copy_(source.to(self.weight.dtype) @ self.weight)

    def __call__(self, rows: Tensor) -> Tensor:
        """``[rows, outputs]`` with bias."""
        return (rows.to(self.weight.dtype) @ self.weight).float().add_(self.bias)


class PairedLayer(NamedTuple):
    """A layer of the columns on strips, and one of the honours that stand alone."""

    columns: Layer
    honours: Layer

    def to(self, dtype: torch.dtype) -> PairedLayer:
        """Both in a type."""
        return PairedLayer(self.columns.to(dtype), self.honours.to(dtype))


class FusedContext(NamedTuple):
    """Pooled context: what a suit's mean adds to it, and what the means of the hand add to every column."""

    own: Layer
    whole: Layer


class PooledMeans:
    """Room for the means of columns, and for what pooled context makes of them; used by one block at a time.

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
        self._said = make(batch, SUITS, width), make(batch, 2, width)
        self._products = tuple(
            (torch.from_numpy(means), torch.from_numpy(said).view(len(means), -1))
            for means, said in zip(self.means, self._said, strict=True)
            if context is not None
        )

    def said(self, context: FusedContext | None) -> tuple[Floats, Floats]:
        """The context of each suit ``[B, 3, W]``, and of all suits and the honours ``[B, 2, W]``."""
        if context is not None:
            for layer, (means, said) in zip(context, self._products, strict=True):
                torch.mm(means, layer.weight, out=said)
        return self._said


class FusedBlock(NamedTuple):
    """A residual block."""

    first: PairedLayer
    second: PairedLayer
    context: FusedContext | None

    def to(self, dtype: torch.dtype) -> FusedBlock:
        """Its products in a type; pooled context stays float32."""
        return FusedBlock(self.first.to(dtype), self.second.to(dtype), self.context)


def _empty(*shape: int) -> Floats:
    return np.empty(shape, np.float32)


def _zeros(*shape: int) -> Floats:
    return np.zeros(shape, np.float32)


def _first_layer(network: Network) -> PairedLayer:
    """The reduction of planes, if there is one, and the first convolution together.

    Its weights are ``[planes, 3 * width]`` and ``[planes, width]``, for planes in which 255 stands for 1.
    """
    stem = network.stem
    convolution, squeeze = (stem.convolution, stem.squeeze) if isinstance(stem, SuitsStem) else (stem, None)
    columns, honours = _folded(convolution, network.stem_norm)
    # [3 * planes, width] becomes [planes, 3 * width]: shifted after the product, not before
    by_tap = columns.weight.view(TAPS, -1, columns.weight.shape[1]).transpose(0, 1).flatten(1)
    layers = Layer(by_tap, columns.bias), honours
    if squeeze is not None:
        reduced = squeeze.weight.flatten(1).t()
        layers = Layer(reduced @ by_tap, columns.bias), Layer(reduced @ honours.weight, honours.bias)
    return PairedLayer(*(Layer(layer.weight / ONE, layer.bias).to(torch.float32) for layer in layers))


def _block(block: nn.Module) -> FusedBlock:
    assert isinstance(block, ResidualBlock | SuitsBlock)
    first = _folded(block.first, block.first_norm)
    context = None
    if isinstance(block, PooledBlock | SuitsBlock):
        context = _context(block.context, *_scales(block.first_norm))
    return FusedBlock(first, _folded(block.second, block.second_norm), context)


def _folded(convolution: nn.Module, norm: nn.Module) -> PairedLayer:
    """A convolution and the normalisation after it as one layer over windows, or one for each part."""
    if isinstance(convolution, SuitsConvolution):
        assert isinstance(norm, SuitsNorm | SuitsScale)
        return PairedLayer(
            _folded_one(convolution.suits.weight.squeeze(2), norm.suits),
            _folded_one(convolution.honours.weight.squeeze(2), norm.honours),
        )
    assert isinstance(convolution, nn.Conv1d)
    assert isinstance(norm, nn.BatchNorm1d)
    lone = torch.zeros(convolution.in_channels, convolution.out_channels)
    none = Layer(lone, torch.zeros(norm.num_features))
    return PairedLayer(_folded_one(convolution.weight, norm), none)


def _folded_one(weight: Tensor, norm: nn.BatchNorm1d | nn.BatchNorm2d | ChannelScale) -> Layer:
    """``weight [outputs, inputs, taps]`` and the normalisation or scale after it."""
    scale = _scale(norm)
    scaled = (weight * scale[:, None, None]).permute(2, 1, 0).reshape(-1, len(weight))
    bias: Tensor = norm.bias
    if isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d):
        assert norm.running_mean is not None
        bias = bias - norm.running_mean * scale
    return Layer(scaled, bias)


def _scales(norm: nn.Module) -> tuple[Tensor, Tensor]:
    """The factors of normalisation for the columns of the suits and of the honours."""
    if isinstance(norm, SuitsNorm | SuitsScale):
        return _scale(norm.suits), _scale(norm.honours)
    assert isinstance(norm, nn.BatchNorm1d)
    return _scale(norm), _scale(norm)


def _scale(norm: nn.BatchNorm1d | nn.BatchNorm2d | ChannelScale) -> Tensor:
    if isinstance(norm, ChannelScale):
        return norm.weight
    assert norm.running_var is not None
    return norm.weight * torch.rsqrt(norm.running_var + norm.eps)


def _context(context: PooledContext, suits: Tensor, honours: Tensor) -> FusedContext:
    """Pooled context, scaled as by the normalisation after it."""
    own = context.own_suit.weight * suits[:, None]
    whole = torch.cat([context.suits.weight * suits[:, None], context.honours.weight * honours[:, None]])
    none = torch.zeros(len(whole))
    own, whole = own.detach().t().contiguous(), whole.detach().t().contiguous()
    return FusedContext(Layer(own, none[: len(own)]), Layer(whole, none))


def _scores(x: Floats, layer: tuple[Floats, Floats]) -> Tensor:
    """``[B, 34]``: one score for each column of ``[B, 34, width]``."""
    scores = _empty(len(x), KINDS)
    kernels.scores(x, *layer, scores)
    return torch.from_numpy(scores)


def _discard_head(head: DiscardHead | SuitsScores) -> tuple[Floats, Floats]:
    """``weight [2, width]`` and ``bias [2]``, of the suits' columns and of the honours'."""
    parts = (head.score, head.score) if isinstance(head, DiscardHead) else (head.suits, head.honours)
    both = _over_channels(*parts)
    return both.weight.t().contiguous().numpy(), both.bias.numpy()


def _head(head: nn.Module) -> list[Layer]:
    """The layers of a head: the first over the channels of each kind, the others over all kinds.

    Networks store kinds together for each channel; here channels are together for each kind.
    """
    answer: nn.Linear
    if isinstance(head, YesNoHead):
        answer = head.answer
        return [_over_channels(head.narrow), _by_kind(head.dense, KINDS), _dense(answer)]
    assert isinstance(head, SuitsYesNoHead)
    narrow = _over_channels(head.narrow["suits"], head.narrow["honours"])  # type: ignore[arg-type]
    return [narrow, _by_kind(head.suits, RANKS), _by_kind(head.honours, HONOURS), _dense(head.answer)]


def _over_channels(*convolutions: nn.Conv1d | nn.Conv2d) -> Layer:
    """Convolutions of single columns beside each other."""
    weights, biases = [], []
    for convolution in convolutions:
        assert convolution.bias is not None
        weights.append(convolution.weight.flatten(1).t())
        biases.append(convolution.bias)
    return Layer(torch.cat(weights, 1), torch.cat(biases))


def _by_kind(dense: nn.Linear, kinds: int) -> Layer:
    weight = dense.weight.view(len(dense.weight), -1, kinds).transpose(1, 2).flatten(1).t()
    return Layer(weight, dense.bias if dense.bias is not None else torch.zeros(len(dense.weight)))


def _dense(layer: nn.Linear) -> Layer:
    return Layer(layer.weight.t(), layer.bias)
