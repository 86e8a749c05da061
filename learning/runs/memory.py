"""Memory of a training run: kept between steps, which need the same blocks again and again."""

from __future__ import annotations

import ctypes
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
"""Numbers of settings in glibc's `mallopt`."""
_LARGEST: Final = 1 << 30
"""Bytes of the largest block that is kept."""


def keep_freed_memory() -> bool:
    """Keep what this process frees instead of giving it back to the system; return whether that is possible.

    glibc gives back blocks of 32 MB and more as soon as they are freed, and the system clears their pages
    again for the next step. In a network of large tensors that takes longer than learning does
    (`docs/history/measurements.md`). Other C libraries are left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # TypeError: Windows, which has no main program to open
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST) and mallopt(_TRIM_THRESHOLD, -1))
