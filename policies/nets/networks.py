"""The networks of the five models in torch: a tower over the 34 tile kinds, with one of two heads.

After Suphx: columns keep their places, because each has its own meaning; one score per kind for the discard,
"no" and "yes" for the other four. The tower is one of `policies.nets.towers`. This is the form that learns;
`policies.nets.fused` plays.

Each convolution of the tower is followed by batch normalisation. In play a network uses the averages from
training (``eval``), so a position gives the same numbers alone and in a batch.

Source: Suphx, arXiv:2003.13590, section 2.2, figures 4 and 5, table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from policies.features.table import ONE
from policies.nets.architectures import (
    DISCARDS,
    HAND_SCORES,
    Architecture,
    Arrays,
    Floats,
    HoseiArchitecture,
    HoseiBaseArchitecture,
    PooledArchitecture,
    SuitsArchitecture,
    Weights,
    identities_of,
)
from policies.nets.shapes import check_sizes
from policies.nets.towers import hosei, residual, suits
from policies.nets.towers.hands import HandsHead
from policies.nets.towers.residual import PooledBlock
from policies.nets.towers.suits import Columns

A = TypeVar("A")
N = TypeVar("N", bound=nn.Module)


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


class Network(nn.Module):
    """One of the five models.

    Args:
        architecture: its tower and sizes.

    Raises:
        ValueError: a size is not positive, or not possible for the tower.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        check_sizes(architecture)
        self.architecture = architecture
        if names := identities_of(architecture):
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


def network_of(weights: Weights) -> Network:
    """The network with copies of the weights, ready to play (``eval``), on the CPU."""
    return filled(empty(Network, weights.architecture), weights.arrays)


def empty(kind: Callable[[A], N], architecture: A) -> N:
    """A network without memory for its weights: all its tensors are on the meta device.

    Raises:
        ValueError: the network cannot be built.
    """
    with torch.device("meta"), _NoDice():
        return kind(architecture)


class _NoDice(TorchFunctionMode):
    """Skips random initialisation: the tensors have no memory, and torch takes a second to prepare it."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return args[0] if func is Tensor.normal_ else func(*args, **(kwargs or {}))


def filled(network: N, arrays: Arrays) -> N:
    """The network with copies of all its weights in place, ready to play (``eval``)."""
    weights = network.state_dict()  # not a plain dict: it has the versions of the layers
    weights.update((name, torch.tensor(array)) for name, array in arrays.items())
    network.load_state_dict(weights, strict=True, assign=True)
    return network.eval()


def arrays_of(tensors: Mapping[str, Tensor]) -> dict[str, Floats]:
    """Copy weights on any device, of any float type, to arrays as a checkpoint has them."""
    return {
        name: tensor.detach().to("cpu", torch.float32, copy=True).numpy() for name, tensor in tensors.items()
    }


def as_input(planes: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Convert the encoder's planes to a network's input.

    Args:
        planes: ``[B, C, 34]`` uint8, 255 for 1.
        dtype: dtype of the floats.
    """
    return planes.to(dtype).mul_(1.0 / ONE)
