"""What `learning.runs.learner` must know of a network that learns from play."""

from __future__ import annotations

from typing import Final

import msgspec

from policies.compute import FloatPrecision

ROWS_LEARNED: Final = 512
"""Decisions whose layers are in memory at once: more are no faster."""


class LearnerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """See `learning.runs.learner.LearnerPlan`."""

    features: str
    without: tuple[str, ...] = ()
    weight_decay: float = 0.0
    averaging: float = 0.99
    seed: int = 0
    precision: FloatPrecision = "fp32"
