"""How networks compute: on which device, in which precision, and how many rows at a time.

The three determine a network's answers to the last bit, so whatever records answers records them too.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from kit.options import INTERNAL

DeviceName: TypeAlias = Literal["auto", "cpu", "cuda"]
"""``auto`` takes the GPU if there is one."""
FloatPrecision: TypeAlias = Literal["bf16", "fp32"]
"""Type of the operands of products, wherever networks can be trained."""
Precision: TypeAlias = Literal["int8", "bf16", "fp32"]
"""Type of the operands of products; bytes on a CPU only."""
PrecisionName: TypeAlias = Literal["auto", "int8", "bf16", "fp32"]
"""``auto`` takes what is fastest on this machine."""
TRAINING_PRECISIONS: Final[tuple[str, ...]] = ("auto", *get_args(FloatPrecision))
DEVICES: Final[tuple[DeviceName, ...]] = get_args(DeviceName)
PRECISIONS: Final[tuple[PrecisionName, ...]] = get_args(PrecisionName)


class Compute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How networks compute.

    Attributes:
        device: where.
        precision: type of the operands of products.
        rows: rows of a product; fewer are padded, so that products of equal sizes sum in equal order.
    """

    device: Literal["cpu", "cuda"] = "cpu"
    precision: Precision = "fp32"
    rows: Annotated[int, msgspec.Meta(ge=1, le=1 << 16), INTERNAL] = 4


IN_PLAY: Final = Compute()
"""For one position at a time on a CPU: few rows, because all are computed for each question."""
