"""Masks of tile kinds as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.features.table import KINDS


def kinds_of(masks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """``[N, 34]``: the kinds in masks ``[N]``."""
    kinds: NDArray[np.bool_] = (masks[:, None] >> np.arange(KINDS, dtype=np.uint64)) & np.uint64(1) == 1
    return kinds
