"""The versions of the policy that actors may ask for: version ``v`` has learned from ``v`` blocks."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import safetensors.torch
from torch import Tensor

from policies.checkpoint.tensors import pack
from policies.slots import Slot


def pack_models(models: Mapping[Slot, Mapping[str, Tensor]]) -> bytes:
    """The weights of the models that learn, as the bytes of one file."""
    return pack(
        {f"{slot}.{name}": tensor for slot, weights in models.items() for name, tensor in weights.items()}
    )


def unpack_models(data: bytes) -> dict[Slot, dict[str, Tensor]]:
    """What `pack_models` packed."""
    found: dict[Slot, dict[str, Tensor]] = {}
    for name, tensor in safetensors.torch.load(data).items():
        slot, _, weight = name.partition(".")
        found.setdefault(Slot(slot), {})[weight] = tensor
    return found


class ParameterStore:
    """Hands actors the weights of a version; may be used by several threads.

    Args:
        versions: weights as the bytes of a file, by version.
    """

    def __init__(self, versions: Mapping[int, bytes]) -> None:
        self._lock = threading.Lock()
        self._versions = dict(versions)

    def publish(self, version: int, weights: bytes) -> None:
        """Add a version."""
        with self._lock:
            self._versions[version] = weights

    def weights(self, version: int) -> bytes | None:
        """The weights of a version, None if it is not there yet."""
        with self._lock:
            return self._versions.get(version)

    def forget(self, before: int, keep: frozenset[int] = frozenset()) -> None:
        """Drop the versions before a number, but those to be kept."""
        with self._lock:
            self._versions = {
                version: weights
                for version, weights in self._versions.items()
                if version >= before or version in keep
            }

    def versions(self) -> dict[int, bytes]:
        """All versions there are."""
        with self._lock:
            return dict(self._versions)
