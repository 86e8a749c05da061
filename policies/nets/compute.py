"""How networks compute: on which device, in which precision, and how many rows at a time.

The three determine a network's answers to the last bit, so whatever records answers records them too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec
import numpy as np
import torch
from torch import Tensor

from kit.options import INTERNAL
from policies.features.table import KINDS, ONE

_FEWEST: Final = 4
"""Rows below which padding costs little."""
_DIFFERENT: Final = 3
"""Different rows of the batches compared; not a power of two, by which products divide their rows."""


class Padding:
    """Pads batches, for a network on a CPU, to numbers of rows that give the same bits as the full number.

    A number is tried when it is first needed: a bot in play needs one or two of them.

    Args:
        network: gives logits for ``[B, planes, 34]`` uint8.
        planes: number of its input planes.
        rows: the full number of rows.
    """

    def __init__(self, network: Callable[[Tensor], Tensor], planes: int, rows: int) -> None:
        self._network, self._planes, self._rows = network, planes, rows
        self._steps = [step for step in range(_FEWEST, rows) if rows % step == 0]
        self._agrees: dict[int, bool] = {}

    def missing(self, count: int) -> int:
        """Rows to add to a batch, which is computed in parts of the full number and a last part.

        Args:
            count: rows of the batch.
        """
        last = count % self._rows
        if not last:
            return 0
        sizes = (last + -last % step for step in self._steps)
        return next((size for size in sizes if self._same_bits(size)), self._rows) - last

    def _same_bits(self, size: int) -> bool:
        if size == self._rows:
            return True
        if size not in self._agrees:
            known, scores = self._known
            self._agrees[size] = scores is not None and torch.equal(
                self._network(known[:size]), scores[:size]
            )
        return self._agrees[size]

    @cached_property
    def _known(self) -> tuple[Tensor, Tensor | None]:
        """Rows that repeat, and their logits; None if those of a row depend on its place."""
        shape = (_DIFFERENT, self._planes, KINDS)
        drawn = np.random.default_rng(0).integers(0, 2, shape, np.uint8) * np.uint8(ONE)
        known = torch.from_numpy(np.resize(drawn, (self._rows, *shape[1:])))
        scores = self._network(known)
        alike = torch.equal(scores[_DIFFERENT:], scores[:-_DIFFERENT])
        return known, scores if alike else None


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
        rows: rows of a product; fewer are padded, so that products of equal sizes sum in equal order.
    """

    device: Literal["cpu", "cuda"] = "cpu"
    precision: Precision = "fp32"
    rows: Annotated[int, msgspec.Meta(ge=1, le=1 << 16), INTERNAL] = 4


IN_PLAY: Final = Compute()
"""For one position at a time on a CPU: few rows, because all are computed for each question."""
