"""What the places of a game are worth."""

from __future__ import annotations

from typing import Final, TypeAlias

Rewards: TypeAlias = tuple[float, float, float, float]
"""Of the places, first to fourth."""

HANCHAN_REWARDS: Final[Rewards] = (90.0, 45.0, 0.0, -135.0)
"""Rank points of a 7-dan for a hanchan in Tenhou's Phoenix room; the reward in the paper."""
