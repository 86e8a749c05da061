"""Networks as torch computes them: on a GPU, in bf16, and those that have no fused form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from policies.nets.architectures import Floats, Weights
from policies.nets.compute import Compute, FloatPrecision
from policies.nets.networks import as_input, network_of


def use_one_torch_thread() -> None:
    """Limit torch to one thread: one position is too little to split, and other tasks need cores."""
    torch.set_num_threads(1)


@contextlib.contextmanager
def inference() -> Iterator[None]:
    """Compute without gradients, in one thread; those of the program are as before afterwards.

    Several would divide products that are too small, and where another program uses one of the cores, wait
    for it at every product: ten hands of three opponents took 350 to 800 ms in two threads, and 55 in one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(before)


def fast_precision() -> FloatPrecision:
    """bf16 where the machine trains faster in it: GPUs, and processors with AMX.

    With AVX-512 alone, products in bf16 take twice the time of fp32.
    """
    if torch.cuda.is_available():
        return "bf16"
    return "bf16" if torch.cpu.get_capabilities().get("amx_bf16") else "fp32"


class DeviceNetwork:
    """A network's logits for the encoder's planes, computed layer by layer on any device of torch.

    On a CPU, products of different sizes may sum in different orders, so all have the same number of rows: an
    answer depends on its question only.

    Args:
        weights: as trained; not changed.
        blank: planes of its input to ignore.
        compute: where, in which precision, and at most how many positions at a time.
    """

    def __init__(self, weights: Weights, blank: Sequence[int], compute: Compute) -> None:
        self._device = torch.device(compute.device)
        self._dtype = torch.bfloat16 if compute.precision == "bf16" else torch.float32
        self._network = network_of(weights).to(self._device, self._dtype)
        self._blank, self._rows = list(blank), compute.rows if compute.device == "cpu" else 0

    def __call__(self, planes: NDArray[np.uint8]) -> Floats:
        """Score the answers.

        Args:
            planes: ``[B, planes, 34]``, 255 for 1.

        Returns:
            ``[B, outputs]`` logits.
        """
        count = len(planes)
        if count < self._rows:
            planes = np.concatenate([planes, np.zeros((self._rows - count, *planes.shape[1:]), np.uint8)])
        with inference():
            x = as_input(torch.from_numpy(planes).to(self._device), self._dtype)
            x[:, self._blank] = 0.0
            scores: Floats = self._network(x).float().cpu().numpy()
            return scores[:count]


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
