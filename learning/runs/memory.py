"""Keeps freed memory for the next training step, which needs blocks of the same sizes."""

from __future__ import annotations

import ctypes
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
"""Numbers of settings in glibc's `mallopt`."""
_LARGEST: Final = 1 << 30
"""Bytes of the largest block that is kept."""


def keep_freed_memory() -> bool:
    """Keep freed memory instead of returning it to the system; return whether that is possible.

    glibc returns blocks of 32 MB and more as soon as they are freed, and the system clears their pages again
    for the next step. For large tensors that takes longer than the computation
    (`docs/history/measurements.md`). Other C libraries are left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # TypeError: Windows, which has no main program to open
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST) and mallopt(_TRIM_THRESHOLD, -1))
