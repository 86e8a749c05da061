"""Small kernels that write planes (``[C, 34]`` uint8, initially zero, `ONE` for 1), and masks as arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kit.jit import kernel
from policies.features.table import KINDS, ONE

_BIT: Final = np.uint64(1)


@kernel
def fill(out: Any, plane: int, value: int) -> None:
    """Fill a whole plane with one value."""
    for kind in range(KINDS):
        out[plane, kind] = value


@kernel
def fill_real(out: Any, plane: int, value: float) -> None:
    """Fill a whole plane with a real, clipped to 0-1."""
    fill(out, plane, real(value))


@kernel
def real(value: float) -> int:
    """A real clipped to 0-1, as planes store it."""
    return int(min(max(value, 0.0), 1.0) * ONE + 0.5)


@kernel
def mark_mask(out: Any, plane: int, mask: Any) -> None:
    """Mark the kinds of a mask."""
    for kind in range(KINDS):
        if (mask >> np.uint64(kind)) & _BIT:
            out[plane, kind] = ONE


@kernel
def mark_counts(out: Any, plane: int, counts34: Any, planes: int) -> None:
    """Mark plane i where the count is more than i."""
    for kind in range(KINDS):
        for level in range(min(int(counts34[kind]), planes)):
            out[plane + level, kind] = ONE


@kernel
def add_one(out: Any, plane: int, kind: int, planes: int) -> None:
    """Add one of a kind: mark the first of the planes not yet marked for it."""
    for level in range(planes):
        if out[plane + level, kind] == 0:
            out[plane + level, kind] = ONE
            return


def kinds_of(masks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """``[N, 34]``: the kinds in masks ``[N]``."""
    kinds: NDArray[np.bool_] = (masks[:, None] >> np.arange(KINDS, dtype=np.uint64)) & np.uint64(1) == 1
    return kinds
