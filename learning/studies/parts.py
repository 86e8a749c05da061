"""What each part of the included network is worth: one removed or added at a time, at equal samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from learning.studies.study import PHOENIX, Study
from learning.supervised.plan import TrainingPlan, make_plan
from policies.features.table import LITE, SETS, SUPHX

SAMPLES: Final = 150_000
"""Samples of a run."""
_VALIDATION_ROWS: Final = 50_000
_LARGE: Final = 1_000_000


def small_plan(**changes: Any) -> TrainingPlan:
    """The plan of the included network, short, validated at its end alone."""
    settings = {
        "preset": "small",
        "selection": {"rooms": PHOENIX},
        "samples": SAMPLES,
        "validate_every": _LARGE,
        "validation_rows": _VALIDATION_ROWS,
    }
    return make_plan("discard", **{**settings, **changes})


def _groups(*prefixes: str) -> tuple[str, ...]:
    """Groups of the lite set whose names begin with a prefix."""
    return tuple(group.id for group in SETS[LITE].groups if group.id.startswith(prefixes))


_PARTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "as shipped, 64×6": {},
    "another seed": {"seed": 101},
    "without look-ahead (LA3)": {"without": _groups("LA3")},
    "838 planes, without LA1 and LA2": {"features": SUPHX, "without": ("LA1", "LA2")},
    "838 planes, with LA1 and LA2": {"features": SUPHX},
    "without safety and unseen copies (G, H)": {"without": _groups("G", "H")},
    "without discard sums and recency (E, F)": {"without": _groups("E", "F")},
    "no renaming of tiles": {"augment": False},
    "no averaging of weights": {"averaging": 0.0},
    "32×4": {"width": 32, "depth": 4},
}


def _plans(seed: int) -> dict[str, TrainingPlan]:
    return {name: small_plan(**{"seed": seed, **changes}) for name, changes in _PARTS.items()}


STUDY: Final = Study(_plans)
