"""Small kernels that write planes: ``[C, 34]`` uint8, zero before, `ONE` for 1."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.jit import kernel
from policies.features.table import KINDS, ONE

_BIT: Final = np.uint64(1)


@kernel
def fill(out: Any, plane: int, value: int) -> None:
    """One value all along a plane."""
    for kind in range(KINDS):
        out[plane, kind] = value


@kernel
def fill_real(out: Any, plane: int, value: float) -> None:
    """A real all along a plane, cut to 0-1."""
    fill(out, plane, real(value))


@kernel
def real(value: float) -> int:
    """A real cut to 0-1, as planes store it."""
    return int(min(max(value, 0.0), 1.0) * ONE + 0.5)


@kernel
def mark_mask(out: Any, plane: int, mask: Any) -> None:
    """The kinds of a mask."""
    for kind in range(KINDS):
        if (mask >> np.uint64(kind)) & _BIT:
            out[plane, kind] = ONE


@kernel
def mark_counts(out: Any, plane: int, counts34: Any, planes: int) -> None:
    """Plane i where the count is more than i."""
    for kind in range(KINDS):
        for level in range(min(int(counts34[kind]), planes)):
            out[plane + level, kind] = ONE


@kernel
def add_one(out: Any, plane: int, kind: int, planes: int) -> None:
    """One more of a kind: the first of the planes that does not have it yet."""
    for level in range(planes):
        if out[plane + level, kind] == 0:
            out[plane + level, kind] = ONE
            return
