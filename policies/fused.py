"""A trained network rewritten as few matrix products: the same answers in half the time.

The form that trains best is not the fastest to run. Here batch normalisation is folded into the convolutions,
and a convolution over three neighbouring kinds is one product of ``[B * 34, 3 * width]`` windows with its
weights, in reused buffers. For a single position, torch's own convolution spends most of its time on setup;
ONNX Runtime is no faster than this code (`docs/measurements.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn

from policies.features.table import KINDS, ONE
from policies.networks import DiscardHead, Network, ResidualBlock, YesNoHead

_TAPS: Final = 3
_PADDED: Final = KINDS + _TAPS - 1
_EDGE: Final = _TAPS // 2


class _LinearLayer(NamedTuple):
    """``weight [inputs, outputs]`` and ``bias [outputs]``."""

    weight: Tensor
    bias: Tensor


class FusedNetwork:
    """Computes a network's logits for the encoder's planes; cannot be trained.

    Args:
        network: as trained; not changed.
        blank: planes of its input to ignore.
        device: where to compute.
    """

    def __init__(
        self, network: Network, blank: Sequence[int] = (), device: torch.device | str = "cpu"
    ) -> None:
        self.architecture = network.architecture
        self.device = torch.device(device)
        with torch.inference_mode():
            stem = _folded(network.stem, network.stem_norm)
            # planes use 255 for 1
            weight = (stem.weight / ONE).view(_TAPS, self.architecture.planes, -1)
            weight[:, list(blank)] = 0.0
            self._stem = self._placed(_LinearLayer(weight.flatten(0, 1), stem.bias))
            self._tower = [
                (
                    self._placed(_folded(block.first, block.first_norm)),
                    self._placed(_folded(block.second, block.second_norm)),
                )
                for block in _blocks(network)
            ]
            self._head = [self._placed(layer) for layer in _head(network.head)]

    def __call__(self, planes: Tensor) -> Tensor:
        """Score the answers.

        Args:
            planes: ``[B, planes, 34]`` uint8, 255 for 1, on any device.

        Returns:
            ``[B, 34]`` or ``[B, 2]`` logits, on the network's device.
        """
        with torch.inference_mode():
            return self._head_of(self._tower_of(self._stem_of(planes)), len(planes))

    def _stem_of(self, planes: Tensor) -> Tensor:
        """``[B * 34, width]`` after the first convolution."""
        batch, channels = planes.shape[:2]
        padded = torch.zeros(batch, _PADDED, channels, device=self.device)
        padded[:, _EDGE:-_EDGE] = planes.to(self.device).transpose(1, 2)
        windows = _windows(padded).reshape(batch * KINDS, _TAPS * channels)
        return torch.addmm(self._stem.bias, windows, self._stem.weight).relu_()

    def _tower_of(self, x: Tensor) -> Tensor:
        batch, width = len(x) // KINDS, x.shape[1]
        padded = torch.zeros(batch, _PADDED, width, device=self.device)
        middle, moving = padded[:, _EDGE:-_EDGE], _windows(padded)
        windows = torch.empty(batch * KINDS, _TAPS * width, device=self.device)
        gathered = windows.view(moving.shape)
        inner = torch.empty_like(x)
        for first, second in self._tower:
            middle.copy_(x.view(middle.shape))
            gathered.copy_(moving)
            torch.addmm(first.bias, windows, first.weight, out=inner)
            torch.clamp_min(inner.view(middle.shape), 0.0, out=middle)
            gathered.copy_(moving)
            x.addmm_(windows, second.weight).add_(second.bias).relu_()
        return x

    def _head_of(self, x: Tensor, batch: int) -> Tensor:
        narrow, *dense = self._head
        x = torch.addmm(narrow.bias, x, narrow.weight).view(batch, -1)
        for layer in dense:
            x = torch.addmm(layer.bias, x.relu_(), layer.weight)
        return x

    def _placed(self, layer: _LinearLayer) -> _LinearLayer:
        return _LinearLayer(*(tensor.detach().float().contiguous().to(self.device) for tensor in layer))


def _windows(padded: Tensor) -> Tensor:
    """``[B, 36, C]`` viewed as ``[B, 34, 3 * C]``: each kind with its neighbours."""
    batch, _, channels = padded.shape
    return padded.as_strided((batch, KINDS, _TAPS * channels), (_PADDED * channels, channels, 1))


def _blocks(network: Network) -> list[ResidualBlock]:
    return [block for block in network.tower if isinstance(block, ResidualBlock)]


def _folded(convolution: nn.Conv1d, norm: nn.BatchNorm1d) -> _LinearLayer:
    """A convolution and the normalisation after it as one layer over windows."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
    weight = convolution.weight * scale[:, None, None]
    bias = norm.bias - norm.running_mean * scale
    return _LinearLayer(weight.permute(2, 1, 0).reshape(-1, len(weight)), bias)


def _head(head: nn.Module) -> list[_LinearLayer]:
    """The layers of a head: the first over the channels of each kind, the others over all kinds."""
    if isinstance(head, DiscardHead):
        return [_over_channels(head.score)]
    assert isinstance(head, YesNoHead)
    narrow = _over_channels(head.narrow)
    hidden, channels = len(head.dense.weight), len(narrow.bias)
    # the network stores kinds together for each channel, here channels are together for each kind
    by_kind = head.dense.weight.view(hidden, channels, KINDS).transpose(1, 2).reshape(hidden, -1)
    return [
        narrow,
        _LinearLayer(by_kind.t(), head.dense.bias),
        _LinearLayer(head.answer.weight.t(), head.answer.bias),
    ]


def _over_channels(convolution: nn.Conv1d) -> _LinearLayer:
    assert convolution.bias is not None
    return _LinearLayer(convolution.weight.squeeze(2).t(), convolution.bias)
