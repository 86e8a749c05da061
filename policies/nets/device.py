"""Where networks compute: a device chosen by name, a network on it, and how its loss is recognised."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import torch
from torch import Tensor

from kit.errors import ModelError
from policies.nets.compute import IN_PLAY, Compute, DeviceName, FloatPrecision, Precision, PrecisionName
from policies.nets.networks import Network, as_input

_MANY: Final[dict[Precision, int]] = {"fp32": 32, "bf16": 64, "int8": 64}
"""Rows on a CPU for many positions at a time; more are hardly faster (`docs/history/measurements.md`)."""
_ON_GPU: Final = 2048


def use_one_thread() -> None:
    """Limit torch to one thread: one position is too little to split, and other tasks need cores."""
    torch.set_num_threads(1)


@contextlib.contextmanager
def inference() -> Iterator[None]:
    """Compute without gradients, in as many threads as torch is limited to.

    OpenMP keeps the limit for each thread. A thread that has not asked torch for it would share its products
    with all cores, and where another program uses one of them, wait for it at every product.
    """
    torch.get_num_threads()  # sets the limit in this thread, too
    with torch.inference_mode():
        yield


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


def choose_compute(
    device: DeviceName = "cpu", precision: PrecisionName = "auto", *, many: bool = True
) -> Compute:
    """How networks compute on this machine.

    Args:
        device: where.
        precision: type of the operands of products.
        many: whether many positions are evaluated at a time; if not, in fp32, and on a CPU few rows.

    Raises:
        ModelError: there is no GPU that torch can use, or int8 is not possible there.
    """
    place: Literal["cpu", "cuda"] = "cuda" if choose_device(device).type == "cuda" else "cpu"
    if place == "cpu" and not many:
        return IN_PLAY
    if precision != "auto":
        chosen = precision
    elif not many:
        chosen = "fp32"
    else:
        chosen = "int8" if place == "cpu" and multiplies_bytes() else fast_precision()
    if chosen == "int8" and place == "cuda":
        raise ModelError("int8 is for processors; use the precision bf16 or fp32 on a GPU")
    if chosen == "int8" and not multiplies_bytes():
        raise ModelError("this processor has no instructions for int8; use the precision fp32")
    return Compute(place, chosen, _ON_GPU if place == "cuda" else _MANY[chosen])


def multiplies_bytes() -> bool:
    """Whether this processor has instructions for products of bytes, which are exact."""
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(each) for each in ("amx_int8", "avx512_vnni", "avx_vnni"))


def fast_precision() -> FloatPrecision:
    """bf16 where the machine trains faster in it: GPUs, and processors with AMX.

    With AVX-512 alone, products in bf16 take twice the time of fp32 (`docs/history/measurements.md`).
    """
    if torch.cuda.is_available():
        return "bf16"
    return "bf16" if torch.cpu.get_capabilities().get("amx_bf16") else "fp32"


class DeviceNetwork:
    """A network's logits for the encoder's planes, computed layer by layer on any device of torch.

    Args:
        network: as trained; not changed.
        blank: planes of its input to ignore.
        compute: where and in which precision.
    """

    def __init__(self, network: Network, blank: Sequence[int], compute: Compute) -> None:
        self._device = torch.device(compute.device)
        self._dtype = torch.bfloat16 if compute.precision == "bf16" else torch.float32
        self._network = copy.deepcopy(network).eval().to(self._device, self._dtype)
        self._blank = list(blank)

    def __call__(self, planes: Tensor) -> Tensor:
        """Score the answers.

        Args:
            planes: ``[B, planes, 34]`` uint8, 255 for 1, on any device.

        Returns:
            ``[B, 34]`` or ``[B, 2]`` float32 logits, on the network's device.
        """
        with inference():
            x = as_input(planes.to(self._device), self._dtype)
            x[:, self._blank] = 0.0
            scores: Tensor = self._network(x)
            return scores.float()


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
