"""Random numbers that belong to a moment of a game, and depend on nothing else."""

from __future__ import annotations

from typing import Final

_MASK: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15


def drawn_bits(*numbers: int) -> int:
    """64 bits that belong to some numbers, such as a game's seed, a player and a moment."""
    mixed = 0
    for number in numbers:
        mixed = _scrambled((mixed ^ (number & _MASK)) + _GOLDEN)
    return mixed


def drawn_share(*numbers: int) -> float:
    """A number in [0, 1) that belongs to some numbers."""
    return (drawn_bits(*numbers) >> 11) * 2.0**-53


def _scrambled(number: int) -> int:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of the number."""
    number &= _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)
