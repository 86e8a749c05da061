"""How networks compute: on which device, in which precision, how many rows at a time.

The three determine a network's answers to the last bit, so whatever records answers records them too.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec
import numpy as np

from kit.errors import ModelError
from kit.options import INTERNAL
from policies.nets.architectures import Floats
from policies.nets.products import multiplies_bytes

DeviceName: TypeAlias = Literal["auto", "cpu", "cuda"]
"""``auto`` takes the GPU if there is one."""
FloatPrecision: TypeAlias = Literal["bf16", "fp32"]
"""Type of the operands of products, wherever networks can be trained."""
Precision: TypeAlias = Literal["int8", "bf16", "fp32"]
"""Type of the operands of products; bytes on a CPU only."""
PrecisionName: TypeAlias = Literal["auto", "int8", "bf16", "fp32"]
"""``auto`` takes what is fastest on this machine."""
DEVICES: Final[tuple[DeviceName, ...]] = get_args(DeviceName)
PRECISIONS: Final[tuple[PrecisionName, ...]] = get_args(PrecisionName)


class Compute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How networks compute.

    Attributes:
        device: where.
        precision: type of the operands of products.
        rows: positions at a time. Where torch computes on a CPU, fewer are padded: products of equal sizes
            sum in equal order.
    """

    device: Literal["cpu", "cuda"] = "cpu"
    precision: Precision = "fp32"
    rows: Annotated[int, msgspec.Meta(ge=1, le=1 << 16), INTERNAL] = 4


IN_PLAY: Final = Compute()
"""For one position at a time on a CPU: few rows, because torch computes all for each question."""

_MANY: Final[dict[Precision, int]] = {"fp32": 32, "bf16": 64, "int8": 64}
"""Rows on a CPU for many positions at a time; more are hardly faster."""
_ON_GPU: Final = 2048
_DRIVERS: Final[dict[str, tuple[str, ...]]] = {
    "linux": ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg"),
    "win32": ("C:/Windows/System32/nvcuda.dll",),
}
"""Files of drivers: of NVIDIA, AMD, and Windows in its Linux. Without one, torch need not be asked."""


@functools.cache
def has_gpu() -> bool:
    """Whether there is a GPU that torch can use."""
    if not any(Path(file).exists() for file in _DRIVERS.get(sys.platform, ())):
        return False
    import torch  # noqa: PLC0415 - takes seconds, and few machines have a GPU

    return torch.cuda.is_available()


def choose_device(name: DeviceName) -> Literal["cpu", "cuda"]:
    """The device a name stands for on this machine.

    Raises:
        ModelError: there is no GPU that torch can use.
    """
    if name == "cpu":
        return "cpu"
    if has_gpu():
        return "cuda"
    if name == "cuda":
        raise ModelError("torch finds no GPU it can use")
    return "cpu"


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
    place = choose_device(device)
    if place == "cpu" and not many:
        return IN_PLAY
    if precision != "auto":
        chosen = precision
    elif place == "cuda":
        chosen = "bf16" if many else "fp32"
    else:
        chosen = "int8" if multiplies_bytes() else "fp32"
    if chosen == "int8" and place == "cuda":
        raise ModelError("int8 is for processors; use the precision bf16 or fp32 on a GPU")
    if chosen == "int8" and not multiplies_bytes():
        raise ModelError("this processor has no instructions for int8; use the precision fp32")
    return Compute(place, chosen, _ON_GPU if place == "cuda" else _MANY[chosen])


def softmax(scores: Floats) -> Floats:
    """Probabilities along the last axis."""
    found: Floats = np.exp(scores - scores.max(-1, keepdims=True))
    found /= found.sum(-1, keepdims=True)
    return found


def sigmoid(scores: Floats) -> Floats:
    """Probabilities of yes; no score is too large for it."""
    found: Floats = np.tanh(scores * np.float32(0.5)) * np.float32(0.5) + np.float32(0.5)
    return found
