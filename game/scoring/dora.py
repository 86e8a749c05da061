"""Which kinds and tiles count as dora, for kernels."""

from __future__ import annotations

from kit.jit import kernel


@kernel
def dora_of(kind: int) -> int:
    """The dora that an indicator of this kind shows.

    >>> [dora_of(kind) for kind in (0, 8, 26, 30, 33)]
    [1, 0, 18, 27, 31]
    """
    if kind >= 31:
        return 31 + (kind - 30) % 3
    if kind >= 27:
        return 27 + (kind - 26) % 4
    return kind - kind % 9 + (kind + 1 - 9 * (kind // 9)) % 9


@kernel
def is_red(tile: int) -> bool:
    """Whether a physical tile is a red five.

    >>> [is_red(tile) for tile in (16, 17, 52, 88)]
    [True, False, True, True]
    """
    return bool(tile in (16, 52, 88))
