"""Where networks compute: chosen by name, and known to be lost when it is."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch

from game.errors import ModelError

DeviceName: TypeAlias = Literal["auto", "cpu", "cuda"]
"""``auto`` takes the GPU if there is one."""


def choose_device(name: DeviceName) -> torch.device:
    """The device a name stands for on this machine.

    Raises:
        ModelError: there is no GPU that torch can use.
    """
    if name == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if name == "cuda":
        raise ModelError("torch finds no GPU it can use")
    return torch.device("cpu")


def is_device_fault(exc: BaseException) -> bool:
    """Whether a device ran out of memory or is gone.

    >>> is_device_fault(MemoryError()), is_device_fault(RuntimeError("CUDA error: device lost"))
    (True, True)
    >>> is_device_fault(ValueError("shape"))
    False
    """
    if isinstance(exc, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(exc).lower()
    return isinstance(exc, RuntimeError) and ("out of memory" in text or "cuda error" in text)
