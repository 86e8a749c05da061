"""Progress of adapting to a round, for the dashboard and the terminal."""

from __future__ import annotations

from typing import Literal

import msgspec

from game.scoring.settlement import RewardKind


class AdaptationStatus(msgspec.Struct, frozen=True):
    """Progress of adapting to the current round.

    Attributes:
        playouts: rounds played out and learned from.
        of: rounds planned so far.
        worth: unit of gains: ``points``, ``global`` for a 7-dan's rank points, or ``uma``.
        gain: on held-out deals, by greedy play; 0 if nothing was found.
        gain_error: standard error of that.
        used: whether it decides our discards.
    """

    playouts: int
    of: int
    worth: RewardKind | Literal["uma"]
    gain: float = 0.0
    gain_error: float = 0.0
    used: bool = False
