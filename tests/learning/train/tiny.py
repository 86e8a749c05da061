"""Settings of runs that take seconds."""

from typing import Any, Final

TINY: Final[dict[str, Any]] = {
    "width": 8,
    "depth": 1,
    "precision": "fp32",
    "batch_size": 32,
    "samples": 320,
    "warm_up": 2,
    "validate_every": 160,
    "validation_rows": 64,
}
