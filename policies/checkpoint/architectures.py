"""The networks a checkpoint can contain, by the architecture in its card."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from policies.nets.conditioned import DenoiserArchitecture, DenoiserNetwork
from policies.nets.networks import (
    Architecture,
    HoseiArchitecture,
    HoseiBaseArchitecture,
    Network,
    PooledArchitecture,
    SuitsArchitecture,
)
from policies.reward import FinishArchitecture, FinishNetwork, RewardArchitecture, RewardNetwork

AnyArchitecture: TypeAlias = (
    Architecture
    | PooledArchitecture
    | SuitsArchitecture
    | HoseiArchitecture
    | HoseiBaseArchitecture
    | RewardArchitecture
    | FinishArchitecture
    | DenoiserArchitecture
)
"""The union of all of them."""

NETWORKS: Final[Mapping[type, Callable[[Any], nn.Module]]] = {
    Architecture: Network,
    PooledArchitecture: Network,
    SuitsArchitecture: Network,
    HoseiArchitecture: Network,
    HoseiBaseArchitecture: Network,
    RewardArchitecture: RewardNetwork,
    FinishArchitecture: FinishNetwork,
    DenoiserArchitecture: DenoiserNetwork,
}
"""The constructor of each."""

Shapes: TypeAlias = dict[str, tuple[int, ...]]
"""Shape of each tensor by its name."""


def empty_network(architecture: AnyArchitecture) -> nn.Module:
    """The network without memory for its weights: all its tensors are on the meta device.

    Raises:
        ValueError: the network cannot be built.
    """
    with torch.device("meta"), _NoDice():
        return NETWORKS[type(architecture)](architecture)


@functools.lru_cache(maxsize=16)  # the models of a folder often have the same
def shapes_of(architecture: AnyArchitecture) -> Shapes:
    """Names and shapes of a network's tensors, computed without allocating any.

    Raises:
        ValueError: the network cannot be built.
    """
    state = empty_network(architecture).state_dict()
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


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
