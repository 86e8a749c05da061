"""How the loss of a device is recognised."""

from __future__ import annotations

import torch


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
